"""A detector that is loaded at its first request, and a node that is shut down meanwhile."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_perception.detection import Detection
from openral_perception.detectors import factory
from openral_perception.detectors.factory import DetectorOnDemand

PICTURE = np.zeros((8, 8, 3), np.uint8)


class HeldDetector:
    """Sees nothing; counts how often it was closed."""

    name = "held"

    def __init__(self) -> None:
        self.closed = 0

    def find(self, image: Any, words: str) -> list[Detection]:
        return []

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def package() -> Any:
    return SimpleNamespace(manifest=SimpleNamespace(short_name="held"))


def test_one_that_is_closed_while_it_is_loaded_is_closed_when_it_is_there(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, loaded, faults = threading.Event(), threading.Event(), HeldDetector(), []

    def slowly(package: Any, device: str) -> HeldDetector:
        begun.set()
        assert go_on.wait(60.0)
        return loaded

    monkeypatch.setattr(factory, "load_detector", slowly)
    detector = DetectorOnDemand(package)

    def ask() -> None:
        try:
            detector.find(PICTURE, "the cube")
        except PolicyError as error:
            faults.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    assert begun.wait(60.0)
    detector.close()
    go_on.set()
    asking.join(60.0)
    assert loaded.closed == 1
    assert faults == ["held: the detector was closed meanwhile; ask again when its node is active"]


def test_one_that_is_closed_is_not_loaded_again(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[HeldDetector] = []

    def load(package: Any, device: str) -> HeldDetector:
        made.append(HeldDetector())
        return made[-1]

    monkeypatch.setattr(factory, "load_detector", load)
    detector = DetectorOnDemand(package)
    assert detector.find(PICTURE, "the cube") == []
    assert detector.find(PICTURE, "the cube") == []
    detector.close()
    with pytest.raises(PolicyError, match="held: the detector was closed"):
        detector.find(PICTURE, "the cube")
    assert [each.closed for each in made] == [1]
