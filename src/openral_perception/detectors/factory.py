"""Opens the detector of a skill."""

from __future__ import annotations

from openral_core.errors import PolicyError
from openral_perception.detection import ObjectDetector
from openral_rskill.registry import RSkillPackage


def load_detector(package: RSkillPackage, device: str = "cpu") -> ObjectDetector:
    """Load the detector of a skill of kind detector.

    Args:
        package: the skill.
        device: where it runs, in torch's words.

    Raises:
        PolicyError: not a detector, or of an engine that nothing here runs.
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
