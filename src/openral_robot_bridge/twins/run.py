"""Runs a twin in the foreground, with commands as lines on the standard input."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Protocol

from openral_core.errors import ManifestError, UsageError
from openral_core.scene import DeployScene
from openral_core.scene_arm import MAX_DOMAIN
from openral_robot_bridge.scene_loading import require_host
from openral_robot_bridge.twins.arm import TwinArm
from openral_robot_bridge.twins.cameras import TwinCameras


class Twin(Protocol):
    """Interface of all twins."""

    help: str
    """List of the commands."""
    arm: TwinArm

    def tell(self, line: str) -> None:
        """Execute a command, after which the twin prints its state; may be called from any thread."""
        ...

    def serve(self) -> None:
        """Serve until the command `quit`."""
        ...


def run_twin(
    scene: DeployScene, address: str, patience_s: float, say: Callable[[str], None], cameras_port: int = 0
) -> None:
    """Run the twin of a scene's arm until the command `quit`, or an interrupt.

    Args:
        scene: with a section `arm`, whose driver determines the twin.
        address: of this machine on which the twin listens; for ros2_control the number of the ROS domain, or any
            address for the scene's domain.
        patience_s: [s] see `ArmServer`; other twins ignore it.
        say: prints a line; called when the twin is ready, and with the answer to each command.
        cameras_port: HTTP port of the cameras (`http://HOST:PORT/NAME.mjpg`, MJPEG); 0: none are rendered.

    Raises:
        OpenralError: the scene is invalid, there is no twin for its driver, or the address cannot be listened on.
    """
    require_host(address)
    twin, host, place = _make_twin(scene, address, patience_s, say)
    cameras: TwinCameras | None = None
    if cameras_port:
        cameras = TwinCameras(scene, host, cameras_port, len(twin.arm.world))
        twin.arm.show(cameras.see)

    def listen() -> None:
        for line in sys.stdin:
            twin.tell(line)

    threading.Thread(target=listen, name="told", daemon=True).start()
    say(f"ready: {scene.scene.id} {place}; {twin.help}")
    try:
        twin.serve()
    finally:
        if cameras is not None:
            cameras.close()


def _make_twin(
    scene: DeployScene, address: str, patience_s: float, say: Callable[[str], None]
) -> tuple[Twin, str, str]:
    """Return the twin, the address of this machine for its cameras, and a description of where the twin is reached."""
    assert scene.arm is not None  # `load_arm_scene`
    if scene.arm.driver == "fake":
        raise ManifestError(f"scene {scene.scene.id}: arm.driver is fake, which needs no twin")
    if scene.arm.driver == "ros2_control":
        from openral_robot_bridge.twins.ros.trajectory_twin import TrajectoryTwin

        domain = int(address if address.isdecimal() else scene.arm.address)
        if domain > MAX_DOMAIN:
            raise UsageError(
                f"--address {address}: is no ROS domain; write the number of one, 0 to {MAX_DOMAIN}"
            )
        return TrajectoryTwin(scene, domain, say), "127.0.0.1", f"in ROS domain {domain}"
    if scene.arm.driver == "sawyer":
        from openral_robot_bridge.twins.sawyer.twin import SawyerTwin

        return SawyerTwin(scene, address, say), address.partition(":")[0], f"at {address}"
    from openral_robot_bridge.twins.fci.twin import FciTwin

    return FciTwin(scene, address, say, patience_s), address, f"at {address}"
