"""The section `arm` of a scene: the connection to its real arm, and the limits of the safety filter."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from openral_core.hardware.real_camera import RealCamera
from openral_core.hardware.trajectory_arm import TrajectoryArm
from openral_core.manifest.contracts import Box
from openral_core.schema import Fault, Positive, Schema, raise_faults

MAX_DOMAIN = 232
"""Largest ROS domain id."""
MAX_LABEL = 63
"""Largest length of a part of a host name, between its dots; sockets raise no OSError for a longer or an empty one."""
MAX_STREAM_HZ = 1000
"""[Hz] rate of the fastest arms' own cycles."""
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0.0, le=1.0)]


class SafetyLimits(Schema):
    """Limits of the safety filter of a real arm. Defaults and their sources: docs/real-arms.md."""

    position_margin_rad: NotNegative = 0.1
    """[rad] margin that joints keep from the ends of their ranges; one that slides keeps none."""
    velocity_margin_rad_s: NotNegative = 0.1
    """[rad/s] margin below the speed that the arm allows a joint at its position."""
    dynamics_share: Share = 0.5
    """Share of the arm's own limits of acceleration and jerk that is used."""
    elbow: Box | None = None
    """[m] box of the elbow in the world frame: of the fourth joint of an arm with seven, else of the third; absent:
    unlimited."""
    slow_distance_m: Positive = 0.05
    """[m] distance to itself and to its surroundings below which the arm is slowed."""
    stop_distance_m: Positive = 0.01
    """[m] distance below which it may not come."""
    slow_condition: Positive = 17.0
    """Condition number of the hand's Jacobian above which the arm is slowed."""
    stop_condition: Positive = 30.0
    """Condition number above which it may not go."""
    contact_torque_nm: Positive = 15.0
    """[Nm] external torque on a joint from which on the arm yields to its measured position and holds."""
    collision_torque_nm: Positive = 20.0
    """[Nm] external torque on a joint at which a Franka stops its motion by itself."""
    collision_force_n: Positive = 30.0
    """[N] external force on the hand at which it does so."""
    command_timeout_s: Positive = 0.1
    """[s] time without a new command after which the arm comes to rest."""
    slow_start_s: NotNegative = 3.0
    """[s] duration of the slow start of the first motion."""
    slow_start_share: Share = 0.2
    """Share of the speed that is allowed during the slow start."""
    start_tolerance_rad: Positive = 0.2
    """[rad] largest deviation of a joint from the scene's start pose at the first motion."""
    hold_to_run: bool = True
    """Whether the arm moves only while an operator sends signs of life."""
    hold_to_run_s: Positive = 0.3
    """[s] for which one sign of life is valid."""

    @model_validator(mode="after")
    def _thresholds_are_ordered(self) -> SafetyLimits:
        faults = []
        if self.stop_distance_m >= self.slow_distance_m:
            faults.append(Fault("stop_distance_m", "is not below slow_distance_m", "lower it"))
        if self.stop_condition <= self.slow_condition:
            faults.append(Fault("stop_condition", "is not above slow_condition", "raise it"))
        if self.contact_torque_nm >= self.collision_torque_nm:
            faults.append(Fault("contact_torque_nm", "is not below collision_torque_nm", "lower it"))
        raise_faults(faults)
        return self


class SceneArm(Schema):
    """Section `arm` of a scene in `scenes/robot/`."""

    driver: Literal["franka", "panda", "sawyer", "ros2_control", "fake"]
    """Driver that controls the arm."""
    address: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:\-]*$", max_length=253)]
    """Host name or IP address of its controller; with ros2_control, the number of the arm's ROS domain."""
    stream_hz: Annotated[float, Field(gt=0.0, le=MAX_STREAM_HZ)] = 250.0
    """[Hz] rate of the joint targets between the driver and the arm's client, at least the scene's `control_hz`."""
    ros2_control: TrajectoryArm = TrajectoryArm()
    """Names in the arm's ROS graph, for the driver ros2_control."""
    safety: SafetyLimits = SafetyLimits()
    """Limits of the safety filter."""
    cameras: dict[str, RealCamera] = Field(default_factory=dict)
    """Real cameras by their names in the scene. A camera without an entry must publish on `/openral/cameras/<name>` in
    the scene's size."""
    pairing_s: Positive = 0.05
    """[s] largest difference of the stamps of images and robot state that form one observation."""

    @model_validator(mode="after")
    def _address_fits(self) -> SceneArm:
        if self.driver == "ros2_control" and not (self.address.isdigit() and int(self.address) <= MAX_DOMAIN):
            what = f"'{self.address}' is no ROS domain, and the arm's is not the deployment's"
            raise_faults(
                [Fault("address", what, f"write the number of the arm's ROS_DOMAIN_ID, 0 to {MAX_DOMAIN}")]
            )
        host = self.address.partition(":")[0].removesuffix(".")
        if not all(0 < len(part) <= MAX_LABEL for part in host.split(".")):
            what = f"'{self.address}' is no host name and no IP address"
            raise_faults([Fault("address", what, "write one such as 192.168.1.10")])
        return self
