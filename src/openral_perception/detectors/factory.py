"""Loads the detector of a skill."""

from __future__ import annotations

import threading

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
        self._lock = threading.Lock()
        """Held while the detector is taken in or given up, since a node may be shut down while it is loaded."""
        self._loaded: ObjectDetector | None = None
        self._closed = False

    def find(self, image: NDArray[np.uint8], words: str) -> list[Detection]:
        """Load the detector if need be, and return its detections; see `ObjectDetector.find` and `load_detector`."""
        self.load()
        loaded = self._loaded
        if loaded is None:
            raise self._over()
        return loaded.find(image, words)

    def load(self) -> bool:
        """Load the detector if need be; return whether it was, which takes seconds and more. See `load_detector`.

        Raises:
            PolicyError: it was closed, before or meanwhile.
        """
        if self._loaded is not None:
            return False
        if self._closed:
            raise self._over()
        loaded = load_detector(self._package, self._device)
        with self._lock:
            if not self._closed:
                self._loaded = loaded
                return True
        loaded.close()
        raise self._over()

    def close(self) -> None:
        """Free the detector, if it was loaded; one that is being loaded is freed when it is there."""
        with self._lock:
            self._closed = True
            loaded, self._loaded = self._loaded, None
        if loaded is not None:
            loaded.close()

    def _over(self) -> PolicyError:
        return PolicyError(
            f"{self.name}: the detector was closed meanwhile; ask again when its node is active"
        )
