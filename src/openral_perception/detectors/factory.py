"""Loads the detector of a skill."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import PolicyError
from openral_perception.detection import Detection, ObjectDetector
from openral_rskill.registry import RSkillPackage


def load_detector(package: RSkillPackage, device: str = "cpu") -> ObjectDetector:
    """Load the detector of a skill of kind detector.

    Args:
        package: the skill.
        device: torch device, such as `cpu` or `cuda:0`.

    Raises:
        PolicyError: the skill is not of kind detector, or its engine is unknown.
        OpenralError: it cannot be loaded or started.
    """
    section, name = package.manifest.detector, package.manifest.short_name
    if section is None:
        raise PolicyError(f"{package.manifest.name} is of kind {package.manifest.kind}, not detector")
    if section.engine == "mini":
        from openral_perception.detectors.mini.model import load_folder

        return load_folder(package.weights_path().parent, section.score_threshold, name, device)
    if section.engine == "zeroshot_hf":
        from openral_perception.detectors.zeroshot.model import load

        return load(package, device)
    raise PolicyError(
        f"{package.manifest.name}: nothing here runs detector.engine {section.engine}; use mini or zeroshot_hf"
    )


class DetectorOnDemand:
    """The detector of a skill, which is loaded at the first request, so that it costs nothing without one."""

    def __init__(self, package: RSkillPackage, device: str = "cpu") -> None:
        """Take the arguments of `load_detector`."""
        self.name = package.manifest.short_name
        self._package, self._device = package, device
        self._loaded: ObjectDetector | None = None

    def find(self, image: NDArray[np.uint8], words: str) -> list[Detection]:
        """Load the detector if need be, and return its detections; see `ObjectDetector.find` and `load_detector`."""
        self.load()
        assert self._loaded is not None
        return self._loaded.find(image, words)

    def load(self) -> bool:
        """Load the detector if need be; return whether it was, which takes seconds and more. See `load_detector`."""
        if self._loaded is not None:
            return False
        self._loaded = load_detector(self._package, self._device)
        return True

    def close(self) -> None:
        """Free the detector, if it was loaded."""
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None
