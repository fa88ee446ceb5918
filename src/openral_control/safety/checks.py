"""The checks of a scene, in their order."""

from __future__ import annotations

from openral_control.safety.arm_limits import ArmLimits
from openral_control.safety.contact import ContactCheck
from openral_control.safety.distance import DistanceCheck
from openral_control.safety.hold_to_run import HoldToRun
from openral_control.safety.position import PositionCheck
from openral_control.safety.singularity import SingularityCheck
from openral_control.safety.slow_start import SlowStart
from openral_control.safety.step import ArmGeometry, Check
from openral_control.safety.velocity import VelocityCheck
from openral_control.safety.workspace import WorkspaceCheck
from openral_core.arm_section import SafetyLimits
from openral_core.manifest.contracts import Box


def make_checks(
    safety: SafetyLimits,
    limits: ArmLimits,
    geometry: ArmGeometry,
    workspace: Box | None,
    slow_start: SlowStart | None = None,
    hold_to_run: HoldToRun | None = None,
) -> list[Check]:
    """Return what the safety filter asks: first whether the arm may move at all, then where to and how fast.

    Args:
        safety: of the scene.
        limits: that the arm is moved within.
        geometry: of the arm in its scene.
        workspace: box [m] of the hand.
        slow_start: None: the arm begins anywhere, at full speed.
        hold_to_run: None: the arm moves unattended.
    """
    checks: list[Check] = [check for check in (hold_to_run, slow_start) if check is not None]
    return [
        *checks,
        ContactCheck(safety.contact_torque_nm),
        PositionCheck(limits, safety.position_margin_rad),
        VelocityCheck(limits, safety.velocity_margin_rad_s),
        WorkspaceCheck(geometry, workspace, safety.elbow),
        DistanceCheck(geometry, safety.slow_distance_m, safety.stop_distance_m),
        SingularityCheck(geometry, safety.slow_condition, safety.stop_condition),
    ]
