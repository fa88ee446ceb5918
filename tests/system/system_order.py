"""The order of tests that share a deployment, which moves in real time as long as it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def put_first(items: list[pytest.Item], folder: Path, is_wanted: Callable[[pytest.Item], bool]) -> None:
    """Put the tests of a folder that are wanted first before its others; the order is kept otherwise."""
    places = [place for place, item in enumerate(items) if folder in item.path.parents]
    ordered = sorted((items[place] for place in places), key=lambda item: not is_wanted(item))
    for place, item in zip(places, ordered, strict=True):
        items[place] = item
