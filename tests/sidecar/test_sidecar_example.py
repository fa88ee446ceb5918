"""The example of docs/sidecars.md works; here in our own interpreter, `make docs-check` builds its environment."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sidecar_helpers import PATIENCE_S

from openral_sidecar.errors import SidecarRefused
from openral_sidecar.sidecar import Identity, Sidecar, SidecarSettings

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_the_example_answers_and_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from brightness import SPEC

    settings = SidecarSettings(python=Path(sys.executable), call_timeout_s=PATIENCE_S)
    with Sidecar.open(SPEC, ["--model", "luma"], Identity("luma"), settings) as sidecar:
        assert sidecar.description == {"range": [0.0, 1.0]}
        grey = np.full((8, 8, 3), 51, np.uint8)
        assert sidecar.call("measure", {"image": grey})["brightness"] == pytest.approx(0.2)
        with pytest.raises(SidecarRefused, match="no image; send"):
            sidecar.call("measure", {"image": grey[0]})


def test_the_example_is_short() -> None:
    assert sum(bool(line.strip()) for line in (EXAMPLES / "brightness.py").read_text().splitlines()) <= 40
