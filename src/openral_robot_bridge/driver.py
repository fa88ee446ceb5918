"""Interface of all drivers of arms: state, faults, joint targets, gripper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from openral_control.safety.joint_limits import ArmLimits, Vector
from openral_core.errors import OpenralError
from openral_core.hardware.arm_mode import ArmMode


class ArmError(OpenralError):
    """An arm cannot be reached, or refused a request; the message includes the arm's own."""


class ArmAwayError(ArmError):
    """No usable arm answers at the address."""


class NotLedError(ArmError):
    """An arm that had targets ahead of time came to rest, as none were confirmed in time, and needs new targets."""


@dataclass(frozen=True)
class ArmInfo:
    """Constant properties of an arm, read on connection."""

    limits: ArmLimits
    """Joint limits in the order of all joint vectors; inf where the arm reports none."""
    max_width_m: float
    """[m] between the open fingers; 0: there is no gripper."""
    ahead_s: float = 0.0
    """[s] for which targets are sent ahead; 0: each control step sends one target."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the software between the bridge and the arm, by name."""


@dataclass(frozen=True)
class ArmState:
    """State of an arm at one time; vectors are (n,)."""

    stamp_s: float
    """[s] monotonic time at which the state was read."""
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
    """Names of the present faults, as the arm reports them."""
    success_rate: float = 1.0
    """Share of the latest commands that reached the arm in time, 0 to 1."""


@dataclass(frozen=True)
class TrajectoryPoint:
    """A waypoint of a joint trajectory."""

    after_s: float
    """[s] since the start of the trajectory."""
    positions: Vector
    """(n,) [rad]"""
    velocities: Vector
    """(n,) [rad/s]"""
    accelerations: Vector | None = None
    """(n,) [rad/s²]; None: unspecified."""


class ArmDriver(Protocol):
    """Communicates with one arm; it is a `StreamedDriver` or a `PlannedDriver`.

    All calls come from one thread, except that `read` is also called while `stop` waits in another. Calls return within
    milliseconds unless documented otherwise.
    """

    stops_below_rad_s: float
    """[rad/s] speed of the fastest joint up to which `stop` may be called; a faster arm is decelerated first."""

    def connect(self) -> ArmInfo:
        """Connect, which may take seconds, and return the arm's properties.

        Raises:
            ArmError: the arm cannot be reached, or is not the expected one.
        """
        ...

    def read(self) -> ArmState:
        """Return the newest state.

        Raises:
            ArmError: the connection is lost.
        """
        ...

    def stop(self) -> None:
        """End the motion, and return when the arm is at rest and its own controller holds it; this may take 1 s."""
        ...

    def recover(self) -> None:
        """Recover from a reflex.

        Raises:
            ArmError: the arm cannot recover by command, such as while the user stop is pressed.
        """
        ...

    def grip(self, width_m: float, speed_m_s: float, force_n: float) -> None:
        """Move the fingers to a width, or hold an object between them with the force; does not wait for the motion."""
        ...

    def close(self) -> None:
        """Bring the arm to rest and disconnect; called once."""
        ...


class StreamedDriver(ArmDriver, Protocol):
    """Driver of an arm that takes a stream of targets, at `arm.stream_hz`."""

    def follow(self, positions: Vector, velocities: Vector) -> None:
        """Set the target positions (n,) [rad] and velocities (n,) [rad/s]; the first call begins a motion.

        Raises:
            ArmError: the arm is in a mode in which it cannot be moved, or ended the motion by itself.
        """
        ...


@runtime_checkable
class PlannedDriver(ArmDriver, Protocol):
    """Driver of an arm whose controller takes trajectories."""

    def follow_plan(self, points: Sequence[TrajectoryPoint]) -> None:
        """Move the joints through points, the last of which is at rest; this replaces any earlier trajectory.

        Raises:
            ArmError: the arm is in a mode in which it cannot be moved.
        """
        ...
