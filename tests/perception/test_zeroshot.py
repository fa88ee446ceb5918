"""The adapter of large detectors, over a real sidecar process that stands for one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openral_core.errors import ContractError, PolicyError
from openral_perception.detectors.zeroshot.model import ZeroShotDetector
from openral_perception.detectors.zeroshot.spec import SPEC
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.sidecar import Sidecar


@pytest.fixture(scope="module")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZeroShotDetector]:
    patched = pytest.MonkeyPatch()
    patched.setenv("OPENRAL_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    patched.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    )
    spec = replace(SPEC, module="fake_detector_server")
    settings = SidecarSettings(python=Path(sys.executable), shared=False, call_timeout_s=30.0)
    arguments = ["--checkpoint", "somewhere", "--device", "cpu"]
    sidecar = Sidecar.open(spec, arguments, Identity("somewhere"), settings)
    made = ZeroShotDetector("large", sidecar, 0.4, max_side=64)
    yield made
    made.close()
    patched.undo()


def picture() -> np.ndarray:
    """A bright thing of 20 x 10 px in a dark picture that is larger than what is sent."""
    image = np.full((96, 128, 3), 30, np.uint8)
    image[40:50, 60:80] = 255
    return image


def test_a_box_comes_back_in_the_pictures_own_pixels(detector: ZeroShotDetector) -> None:
    (one,) = detector.find(picture(), "the bright thing")
    assert one.box == pytest.approx((60.0, 40.0, 80.0, 50.0), abs=2.0)
    assert (one.u, one.v) == pytest.approx((70.0, 45.0), abs=1.0)
    assert (one.label, one.fit) == ("the bright thing", 1.0)
    assert one.score == pytest.approx(0.5)


def test_nothing_is_no_detection(detector: ZeroShotDetector) -> None:
    assert detector.find(np.zeros((48, 64, 3), np.uint8), "anything") == []


@pytest.mark.parametrize(
    ("words", "reason"), [("refuse", "not this"), ("nonsense", "not finite"), ("short", r"boxes \(2, 3\)")]
)
def test_an_answer_that_is_none_is_one_error(detector: ZeroShotDetector, words, reason) -> None:
    with pytest.raises(PolicyError, match=reason):
        detector.find(picture(), words)


def test_it_needs_words(detector: ZeroShotDetector) -> None:
    with pytest.raises(ContractError, match="say what to find"):
        detector.find(picture(), " ")
