"""Manifests of rSkills: schema and loader."""

from openral_core.manifest.contracts import ActionContract, Box, StartPose, StateContract
from openral_core.manifest.kind_sections import Reward, TaskExamples
from openral_core.manifest.loader import MANIFEST_NAME, load_manifest
from openral_core.manifest.model import COMMERCIAL_LICENSES, RSkillManifest
from openral_core.manifest.runtime import LatencyBudget, Quantization
from openral_core.manifest.sensors import ImagePreprocessing, SensorRequirement

__all__ = [
    "COMMERCIAL_LICENSES",
    "MANIFEST_NAME",
    "ActionContract",
    "Box",
    "ImagePreprocessing",
    "LatencyBudget",
    "Quantization",
    "RSkillManifest",
    "Reward",
    "SensorRequirement",
    "StartPose",
    "StateContract",
    "TaskExamples",
    "load_manifest",
]
