"""What every driver of an arm offers: state, faults by name, a stream of joint targets, fingers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.errors import OpenralError


class ArmError(OpenralError):
    """An arm cannot be reached, or refused what was asked; the text has the arm's own words."""


class ArmAwayError(ArmError):
    """Nothing that can be used answers at an arm's address."""


class NotLedError(ArmError):
    """An arm that was told its way ahead came to rest meanwhile, and must be led anew."""


class ArmMode(str, Enum):
    """What an arm is doing, by its own account."""

    IDLE = "idle"
    """It stands, and can be moved."""
    MOVING = "moving"
    """It follows the stream of targets."""
    GUIDING = "guiding"
    """Somebody leads it by hand."""
    USER_STOPPED = "user stopped"
    """The button beside it is pressed."""
    REFLEX = "reflex"
    """It ended its motion by itself, and waits for `recover`."""
    FAULT = "fault"
    """It is broken, or its driver is gone."""


def ended_by_arm(stopped_by: str) -> bool:
    """Tell whether what keeps an arm from moving, as `RobotArm.stopped_by` says it, is the arm's own doing."""
    return stopped_by.partition(":")[0] in (
        ArmMode.USER_STOPPED.value,
        ArmMode.REFLEX.value,
        ArmMode.FAULT.value,
    )


@dataclass(frozen=True)
class ArmInfo:
    """What an arm says of itself once."""

    limits: ArmLimits
    """Of the joints in the order of every vector here; inf where the arm does not say."""
    max_width_m: float
    """[m] between the open fingers; 0 where there are none."""
    ahead_s: float = 0.0
    """[s] of its way that the arm is told ahead; 0: it is led from one control step to the next."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of what speaks to the arm, by name."""


@dataclass(frozen=True)
class ArmState:
    """An arm at one moment. Vectors are (n,)."""

    stamp_s: float
    """[s] monotonic, when it was read."""
    positions: Vector
    """[rad]"""
    velocities: Vector
    """[rad/s]"""
    external_torques: Vector
    """[Nm]"""
    width_m: float
    """[m] between the fingers."""
    mode: ArmMode
    faults: tuple[str, ...] = ()
    """Names of what is wrong, in the arm's own words."""
    success_rate: float = 1.0
    """Share of the last commands that reached the arm in time."""


@dataclass(frozen=True)
class TrajectoryPoint:
    """A point that the joints pass."""

    after_s: float
    """[s] since the trajectory began."""
    positions: Vector
    """(n,) [rad]"""
    velocities: Vector
    """(n,) [rad/s]"""
    accelerations: Vector | None = None
    """(n,) [rad/s²]; None: not said."""


class ArmDriver(Protocol):
    """Speaks to one arm: a `StreamedDriver` or a `PlannedDriver`.

    Calls come from one thread, but `read` also while `stop` waits in another. Each returns within milliseconds or says
    otherwise.
    """

    stops_below_rad_s: float
    """[rad/s] of the quickest joint up to which `stop` may be called; from above it the arm is led slower before."""

    def connect(self) -> ArmInfo:
        """Connect; may take seconds.

        Raises:
            ArmError: the arm cannot be reached, or is another one.
        """
        ...

    def read(self) -> ArmState:
        """Return the newest state.

        Raises:
            ArmError: the connection is lost.
        """
        ...

    def stop(self) -> None:
        """End the motion; returns when the arm is at rest and its own controller holds it, which may take a second."""
        ...

    def recover(self) -> None:
        """Leave a reflex.

        Raises:
            ArmError: it is not the arm's to decide, such as while the user stop is pressed.
        """
        ...

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Lead the fingers to a width, and press with a force what stops them; returns at once."""
        ...

    def close(self) -> None:
        """Come to rest and disconnect; called once."""
        ...


class StreamedDriver(ArmDriver, Protocol):
    """Of an arm that is given one target after the other, `arm.stream_hz` times a second."""

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Lead the joints to positions (n,) [rad], passed with velocities (n,) [rad/s]; the first call begins a motion.

        Raises:
            ArmError: the arm is in no mode in which it can be moved, or ended the motion by itself.
        """
        ...


@runtime_checkable
class PlannedDriver(ArmDriver, Protocol):
    """Of an arm whose controller is told its way ahead."""

    def follow_plan(self, points: Sequence[TrajectoryPoint]) -> None:
        """Lead the joints through points, the last of which is at rest; what was told before is replaced.

        Raises:
            ArmError: the arm is in no mode in which it can be moved.
        """
        ...
