"""The order of tests that share a deployment, which moves in real time as long as it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def in_first_place(items: list[pytest.Item], folder: Path, shares: Callable[[pytest.Item], bool]) -> None:
    """Put the tests of a folder that share its deployment before its other ones; each keeps its order otherwise."""
    places = [place for place, item in enumerate(items) if folder in item.path.parents]
    ordered = sorted((items[place] for place in places), key=lambda item: not shares(item))
    for place, item in zip(places, ordered, strict=True):
        items[place] = item
