"""Makes the driver that a scene names."""

from __future__ import annotations

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.scene_arm import SceneArm
from openral_robot_bridge.driver import PlannedDriver, StreamedDriver


def make_driver(arm: SceneArm, limits: ArmLimits, start: Vector) -> StreamedDriver | PlannedDriver:
    """Return the driver of a scene's arm, not yet connected.

    Args:
        arm: section of the scene.
        limits: of robot.yaml.
        start: (n,) [rad] start pose of the scene, at which a fake arm begins.

    Raises:
        InstallationError: the driver's client library is not installed.
    """
    if arm.driver == "fake":
        from openral_robot_bridge.drivers.fake import FakeDriver

        return FakeDriver(limits, start)
    if arm.driver == "sawyer":
        from openral_robot_bridge.drivers.sawyer import SawyerDriver

        return SawyerDriver(arm.address, limits.names)
    if arm.driver == "panda":
        from openral_robot_bridge.drivers.panda.panda_driver import PandaDriver

        return PandaDriver(arm.address, limits, 1.0 / arm.stream_hz, arm.safety)
    if arm.driver == "ros2_control":
        from openral_robot_bridge.drivers.ros.trajectory_driver import TrajectoryDriver

        return TrajectoryDriver(int(arm.address), arm.ros2_control, limits)
    from openral_robot_bridge.drivers.franka import FrankaDriver

    return FrankaDriver(arm.address, limits.names, arm.safety)
