"""What a scene says about the real arm in it: how it is reached, and what it is allowed beyond the envelope."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from openral_core.hardware.real_camera import RealCamera
from openral_core.hardware.trajectory_arm import TrajectoryArm
from openral_core.manifest.contracts import Box
from openral_core.schema import Fault, Positive, Schema, raise_faults

MAX_DOMAIN = 232
"""Greatest ROS domain."""
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0.0, le=1.0)]


class SafetyLimits(Schema):
    """Limits of the safety filter of a real arm. Defaults and their sources: docs/real-arms.md."""

    position_margin_rad: NotNegative = 0.1
    """[rad] from the end of a joint's range that it is not led beyond."""
    velocity_margin_rad_s: NotNegative = 0.1
    """[rad/s] below the greatest speed that the arm allows a joint where it is."""
    dynamics_share: Share = 0.5
    """Share of the arm's own limits of acceleration and jerk that is used."""
    elbow: Box | None = None
    """[m] box in the world frame that the elbow is not led out of; absent: not looked at."""
    slow_distance_m: Positive = 0.05
    """[m] nearer than this to itself or to things the arm goes slower."""
    stop_distance_m: Positive = 0.01
    """[m] nearer than this it does not come."""
    slow_condition: Positive = 17.0
    """Condition number of the hand's Jacobian from which on the arm goes slower."""
    stop_condition: Positive = 30.0
    """Condition number beyond which it does not go."""
    contact_torque_nm: Positive = 15.0
    """[Nm] of external torque on a joint that makes the arm yield to where it is, and hold."""
    collision_torque_nm: Positive = 20.0
    """[Nm] of external torque on a joint at which a Franka ends its motion by itself."""
    collision_force_n: Positive = 30.0
    """[N] of external force on its hand, likewise."""
    command_timeout_s: Positive = 0.1
    """[s] after which an arm that is told nothing new comes to rest."""
    slow_start_s: NotNegative = 3.0
    """[s] of its first motion in which the arm goes slower."""
    slow_start_share: Share = 0.2
    """Share of its speed then."""
    start_tolerance_rad: Positive = 0.2
    """[rad] by which each joint may be off the scene's start pose when the arm is first moved."""
    hold_to_run: bool = True
    """The arm moves only while an operator says that they are there."""
    hold_to_run_s: Positive = 0.3
    """[s] for which one such message counts."""

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
    """`arm` of a scene in `scenes/robot/`."""

    driver: Literal["franka", "panda", "sawyer", "ros2_control", "fake"]
    """What speaks to the arm."""
    address: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:\-]*$", max_length=253)]
    """Host name or IP address of its controller; of an arm that ros2_control moves, the number of its ROS domain."""
    stream_hz: Positive = 250.0
    """[Hz] rate of the joint targets between the driver and the arm's client."""
    ros2_control: TrajectoryArm = TrajectoryArm()
    """Names in the arm's ROS graph, where the driver is ros2_control."""
    safety: SafetyLimits = SafetyLimits()
    """What it may do."""
    cameras: dict[str, RealCamera] = Field(default_factory=dict)
    """By their names in the scene. What is not here publishes on `/openral/cameras/<name>` by itself, in the scene's
    size."""
    pairing_s: Positive = 0.05
    """[s] by which the stamps of pictures and of the robot's state may differ that a policy takes for one instant."""

    @model_validator(mode="after")
    def _address_fits(self) -> SceneArm:
        if self.driver == "ros2_control" and not (self.address.isdigit() and int(self.address) <= MAX_DOMAIN):
            what = f"'{self.address}' is no ROS domain, and the arm's is not the deployment's"
            raise_faults(
                [Fault("address", what, f"write the number of the arm's ROS_DOMAIN_ID, 0 to {MAX_DOMAIN}")]
            )
        return self
