"""Analytic motions of a hand: home, move_to, retract, set_gripper, nudge, pick_at, place_at, look_from.

They depend on numpy only, and are the same in simulation, in benchmarks and on a real arm.
"""

from openral_control.motions.arm import MotionArm, MotionRefused
from openral_control.motions.catalogue import MOTIONS, make_motion
from openral_control.motions.motion import Motion, MotionEnd
from openral_control.motions.motion_lookup import motion_name
from openral_control.motions.params import MotionParams, params_of, params_schema

__all__ = [
    "MOTIONS",
    "Motion",
    "MotionArm",
    "MotionEnd",
    "MotionParams",
    "MotionRefused",
    "make_motion",
    "motion_name",
    "params_of",
    "params_schema",
]
