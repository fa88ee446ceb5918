"""Loads scenes with a real arm, and writes commands for their arm in hints."""

from __future__ import annotations

import shlex

from openral_core.errors import ManifestError, UsageError
from openral_core.loopback import is_loopback
from openral_core.scene import DeployScene, load_scene
from openral_core.scene_arm import MAX_DOMAIN, SceneArm
from openral_core.schema import faults_of


def load_arm_scene(ref: str, address: str = "") -> DeployScene:
    """Return a scene with a real arm.

    Args:
        ref: name or path of the scene.
        address: of the arm; empty: the one in the scene.

    Raises:
        ManifestError: the scene has no arm.
        UsageError: the address is malformed.
    """
    scene: DeployScene = load_scene(ref)
    if scene.arm is None:
        raise ManifestError(f"scene {ref}: arm is missing; name a scene of scenes/robot, or add the section")
    if not address:
        return scene
    values = {**scene.arm.model_dump(), "address": address}
    if faults_of(SceneArm, values):
        raise UsageError(f"--address '{address}': {_address_fault(scene.arm)}")
    arm = SceneArm.model_validate(values)
    return scene.model_copy(update={"arm": arm})


def robot_command(verb: str, scene: DeployScene) -> str:
    """Return the command `openral robot VERB` for a scene's arm, with --address if it differs from the scene file's."""
    words = ["openral", "robot", verb, scene.reference]
    written = scene.source.section("arm", "address").data if scene.source else None
    if scene.arm is not None and written not in (None, scene.arm.address):
        words += ["--address", scene.arm.address]
    return shlex.join(words)


def twin_hint(arm: SceneArm, scene: DeployScene) -> str:
    """Return a hint how to start the twin of an arm that does not answer; empty: its address is not of this machine."""
    if not is_loopback(arm.address):
        return ""
    command = shlex.join(["openral", "robot", "twin", scene.reference, "--address", arm.address])
    return f" Its twin is started in another terminal: {command}"


def given_address(address: str | None) -> str:
    """Return the value of an option --address; empty: it was not given.

    Raises:
        UsageError: it was given as an empty text, such as by an unset shell variable.
    """
    if address is not None and not address.strip():
        raise UsageError(
            "--address is empty; write the arm's address, or leave the option out for the scene's"
        )
    return address or ""


def require_host(address: str) -> None:
    """Require that an option --address names a host to listen on, since an empty one stands for all of this machine's.

    Raises:
        UsageError: it does not.
    """
    if not address.partition(":")[0].strip():
        fix = "write an address of this machine, or leave the option out for loopback"
        raise UsageError(f"--address '{address}' names no host; {fix}")


def _address_fault(arm: SceneArm) -> str:
    if arm.driver == "ros2_control":
        return f"is no ROS domain; write the number of the arm's ROS_DOMAIN_ID, 0 to {MAX_DOMAIN}"
    return "is no host name and no IP address; write one such as 192.168.1.10"
