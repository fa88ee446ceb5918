"""What the table of delays says of a run with late pictures and late answers."""

from __future__ import annotations

import sys
from pathlib import Path

PAGES = str(Path(__file__).parents[2] / "tools" / "pages")
if PAGES not in sys.path:
    sys.path.append(PAGES)

from delays_table import Delay  # noqa: E402  it lies in the folder above


def test_both_delays_of_a_run_are_told() -> None:
    assert str(Delay(picture=1, answer=2)) == "pictures 1 frame late, answers 2 frames late"
    singly = [str(Delay(0, 0)), str(Delay(2, 0)), str(Delay(0, 1))]
    assert singly == ["none", "pictures 2 frames late", "answers 1 frame late"]
