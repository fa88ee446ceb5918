"""A twin in the foreground, told by lines on the standard input what happens to it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from openral_core.errors import ManifestError
from openral_core.scene import DeployScene
from openral_robot_bridge.twins.cameras import TwinCameras


def run_twin(
    scene: DeployScene, address: str, patience_s: float, say: Callable[[str], None], cameras_port: int = 0
) -> None:
    """Run the twin of a scene's arm until it is told to quit, or interrupted.

    Args:
        scene: with a section `arm`, whose driver says which twin.
        address: of this machine that it listens on; of an arm of ros2_control the number of its ROS domain.
        patience_s: see `ArmServer`; other twins take no notice of it.
        say: gets a line when it is ready, and one for each that it was told.
        cameras_port: of the scene's cameras, as MJPEG over HTTP (`http://HOST:PORT/NAME.mjpg`); 0: nothing is drawn.

    Raises:
        OpenralError: the scene is wrong, there is no twin for its driver, or the address cannot be listened on.
    """
    assert scene.arm is not None  # `load_arm_scene`
    if scene.arm.driver == "fake":
        raise ManifestError(f"scene {scene.scene.id}: arm.driver is fake, which needs no twin")
    if scene.arm.driver == "sawyer":
        from openral_robot_bridge.twins.sawyer.twin import SawyerTwin

        twin: SawyerTwin | TrajectoryTwin | FciTwin = SawyerTwin(scene, address, say)
    elif scene.arm.driver == "ros2_control":
        from openral_robot_bridge.twins.ros.trajectory_twin import TrajectoryTwin

        twin = TrajectoryTwin(scene, address, say)
        address = "127.0.0.1"
    else:
        from openral_robot_bridge.twins.fci.twin import FciTwin

        twin = FciTwin(scene, address, say, patience_s)

    def listen() -> None:
        for line in sys.stdin:
            twin.tell(line)

    cameras: TwinCameras | None = None
    if cameras_port:
        cameras = TwinCameras(scene, address, cameras_port, twin.body.coordinates)
        twin.body.watcher = cameras.see
    threading.Thread(target=listen, name="told", daemon=True).start()
    say(f"ready: {scene.scene.id} at {address}; {twin.help}")
    try:
        twin.serve()
    finally:
        if cameras is not None:
            cameras.close()
