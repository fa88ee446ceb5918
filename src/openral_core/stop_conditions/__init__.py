"""Conditions that end a goal before its deadline: what they are called, their numbers, and when they hold."""

from openral_core.stop_conditions.fingers import FingerTravel, commands_closing
from openral_core.stop_conditions.models import (
    GripperClosed,
    JudgedDone,
    Lifted,
    Reached,
    Still,
    StopCondition,
    parse_stop_when,
    stop_when_schema,
    stop_when_text,
)
from openral_core.stop_conditions.watch import ConditionWatch, FiredCondition

__all__ = [
    "ConditionWatch",
    "FingerTravel",
    "FiredCondition",
    "GripperClosed",
    "JudgedDone",
    "Lifted",
    "Reached",
    "Still",
    "StopCondition",
    "commands_closing",
    "parse_stop_when",
    "stop_when_schema",
    "stop_when_text",
]
