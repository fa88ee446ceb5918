"""Reading a scene for the real arm in it."""

from __future__ import annotations

from openral_core.arm_section import SceneArm
from openral_core.errors import ManifestError
from openral_core.scene import DeployScene, load_scene


def load_arm_scene(ref: str, address: str = "") -> DeployScene:
    """Load a scene by name or path; its arm is at another address where one is given.

    Raises:
        ManifestError: the scene has no arm, or the address is malformed.
    """
    scene: DeployScene = load_scene(ref)
    if scene.arm is None:
        raise ManifestError(f"scene {ref}: arm is missing; name a scene of scenes/robot, or add the section")
    if not address:
        return scene
    arm = SceneArm.model_validate({**scene.arm.model_dump(), "address": address})
    return scene.model_copy(update={"arm": arm})
