"""Names for annotations that several modules of rclpy give."""

from __future__ import annotations

from typing import Any, Protocol, TypedDict, TypeVar

from rclpy.clock_type import ClockType
from rclpy.destroyable import DestroyableType

MsgType = TypeVar("MsgType")
SrvType = TypeVar("SrvType")
SrvTypeRequest = TypeVar("SrvTypeRequest")
SrvTypeResponse = TypeVar("SrvTypeResponse")
WaitableEntityType = TypeVar("WaitableEntityType")
IncompatibleTypeInfo = Any


class TimeHandle(Protocol):
    """A point of time of a clock."""

    nanoseconds: int
    clock_type: ClockType


class DurationType(Protocol):
    """A span of time."""

    nanoseconds: int


class TimeJumpDictionary(TypedDict):
    """A time jump: its kind, and how far time moved in nanoseconds."""

    clock_change: int
    delta: int


class ClockHandle(DestroyableType, Protocol):
    """What `Clock.handle` gives."""


class ContextHandle(DestroyableType, Protocol):
    """What `Context.handle` gives."""
