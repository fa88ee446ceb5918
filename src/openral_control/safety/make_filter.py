"""Construction of the safety filter of a scene, with its checks in order."""

from __future__ import annotations

from openral_control.safety.clear_path import ClearPathCheck
from openral_control.safety.contact import ContactCheck
from openral_control.safety.distance import DistanceCheck
from openral_control.safety.hold_to_run import HoldToRun
from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_control.safety.joint_position import PositionCheck
from openral_control.safety.joint_step import ArmGeometry, PaceCheck, PlaceCheck
from openral_control.safety.joint_velocity import VelocityCheck
from openral_control.safety.safety_filter import PLANNED, SafetyFilter
from openral_control.safety.singularity import SingularityCheck
from openral_control.safety.slow_start import SlowStart
from openral_control.safety.workspace import WorkspaceCheck
from openral_core.manifest.contracts import Box
from openral_core.scene_arm import SafetyLimits


def make_filter(
    safety: SafetyLimits,
    limits: ArmLimits,
    geometry: ArmGeometry,
    workspace: Box | None,
    dt: float,
    slow_start: SlowStart | None = None,
    hold_to_run: HoldToRun | None = None,
    position_margin: Vector | None = None,
) -> SafetyFilter:
    """Return the filter of a scene, which checks whether the arm may move, then its speed, then its postures.

    Args:
        safety: thresholds and margins of the scene.
        limits: limits of the joints.
        geometry: of the arm in its scene.
        workspace: box [m] of the hand in the world frame; None: none.
        dt: [s] control step.
        slow_start: None: the arm begins in any posture, at full speed.
        hold_to_run: None: the arm moves without an operator's signs of life.
        position_margin: (n,) [rad or m] margins from the ends of the joints' ranges; None: that of `safety` for each.
    """
    margin = safety.position_margin_rad if position_margin is None else position_margin
    braking = PLANNED * limits.acceleration
    distance = DistanceCheck(geometry, safety.slow_distance_m, safety.stop_distance_m)
    singularity = SingularityCheck(geometry, safety.slow_condition, safety.stop_condition)
    first = (hold_to_run, ContactCheck(safety.contact_torque_nm), slow_start)
    paces: list[PaceCheck] = [
        *(check for check in first if check is not None),
        distance,
        singularity,
        VelocityCheck(limits, safety.velocity_margin_rad_s, margin, braking),
    ]
    places: list[PlaceCheck] = [
        PositionCheck(limits, margin),
        WorkspaceCheck(geometry, workspace, safety.elbow),
        distance,
        singularity,
    ]
    path = ClearPathCheck(geometry, safety.stop_distance_m)
    return SafetyFilter(paces, places, path, limits, geometry, dt)
