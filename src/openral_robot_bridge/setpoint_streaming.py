"""Turns the targets of control steps into smooth motion for a driver: a stream of setpoints, or trajectories."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_robot_bridge.driver import PlannedDriver, StreamedDriver
from openral_robot_bridge.trajectory_plan import PlannedMotion, plan_motion, resting

FIRST_S = 0.06
"""[s] from a trajectory message to its first point, which the controller reaches on a quintic spline.

A message that is 2 ms later than the one before changes the acceleration of a joint at 0.5 rad/s by 1.6 rad/s²: by
10 / sqrt(3) times the missing distance over the square of this time."""


class Leader(Protocol):
    """Keeps the motion of an arm smooth; used from one thread."""

    @property
    def at_rest(self) -> bool:
        """Whether the commanded joint positions are at rest."""
        ...

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        ...

    def lead(self, positions: Vector, velocities: Vector, dt: float) -> None:
        """Move the joints through targets (k, n) [rad] with velocities (k, n) [rad/s], the first due in `dt` [s].

        Targets are `dt` apart.

        Raises:
            OpenralError: the arm cannot be moved, or there is no motion within the limits.
        """
        ...

    def go_on(self) -> None:
        """Count a control step that confirms the next of the targets sent ahead."""
        ...

    def stop(self) -> None:
        """Bring the joints to rest, as targets have ceased.

        Raises:
            OpenralError: as for `lead`.
        """
        ...

    def halt(self) -> None:
        """Bring the joints to rest as quickly as the limits of braking allow.

        Raises:
            OpenralError: as for `lead`.
        """
        ...

    def cycle(self) -> None:
        """Send the setpoint that is due now, if any.

        Raises:
            OpenralError: as for `lead`.
        """
        ...


class StreamLeader:
    """Sends a driver one setpoint in each cycle."""

    def __init__(
        self, driver: StreamedDriver, follower: OnlineTrajectory, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin without a target.

        Args:
            driver: gets the setpoints.
            follower: whose cycle is that of the driver's stream.
            clock: monotonic time [s].
        """
        self._driver, self._follower, self._clock = driver, follower, clock
        self._due_s = float("-inf")

    @property
    def at_rest(self) -> bool:
        """Whether the commanded joint positions are at rest."""
        return self._follower.at_rest

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        self._follower.restart(positions)

    def lead(self, positions: Vector, velocities: Vector, dt: float) -> None:
        """Aim at the first target (1, n); later ones come with later calls.

        It is due `dt` [s] after the previous target was due, even if the call comes slightly earlier or later, which it
        does where a control step is not a whole number of cycles. With less time, joints at their maximum acceleration
        could not catch up, and as all joints wait for the latest one, the arm would lag by up to 0.5 rad.
        """
        now = self._clock()
        in_step = abs(self._due_s - now) < dt / 2.0
        self._due_s = (self._due_s if in_step else now) + dt
        self._follower.lead(positions[0], velocities[0], self._due_s - now)

    def go_on(self) -> None:
        """Do nothing, as targets come one by one."""

    def stop(self) -> None:
        """Bring the joints to rest."""
        self._follower.stop()

    def halt(self) -> None:
        """Bring the joints to rest as quickly as the limits of braking allow."""
        self._follower.halt()

    def cycle(self) -> None:
        """Send the driver its next setpoint."""
        self._driver.follow(*self._follower.cycle())


class PlanLeader:
    """Sends a driver a new trajectory when targets change; it begins at the present state of the one before."""

    def __init__(
        self,
        driver: PlannedDriver,
        follower: OnlineTrajectory,
        period_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin at rest.

        Args:
            driver: gets the trajectories.
            follower: whose cycle is `trajectory_plan.FINE_S`.
            period_s: [s] between two points of a trajectory.
            clock: monotonic time [s].
        """
        self._driver, self._follower, self._period_s, self._clock = driver, follower, period_s, clock
        self._began_s = 0.0
        self._told_s, self._passed = 0.0, 0
        self._comes_to_rest = True
        self.restart(np.zeros(len(follower.limits.names)))

    @property
    def at_rest(self) -> bool:
        """Whether the commanded joint positions are at rest."""
        return self._comes_to_rest and self._clock() - self._began_s >= self._plan.lasts_s

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        self._plan: PlannedMotion = resting(positions)
        self._comes_to_rest = True

    def lead(self, positions: Vector, velocities: Vector, dt: float) -> None:
        """Send the driver a trajectory through targets (k, n) [rad], and from the last one to rest.

        If the call is late, the arm has meanwhile followed the former trajectory, and does not go back: targets that it
        has passed are left out, and the others are due earlier by the delay.
        """
        now = self._clock()
        late_s = 0.0 if self._comes_to_rest else max(0.0, now - self._told_s - dt * (self._passed + 1))
        points = [
            (due_s, *target)
            for index, target in enumerate(zip(positions, velocities, strict=True))
            if (due_s := dt * (index + 1) - late_s) > dt / 2
        ]
        if not points:
            points, late_s = [(dt, positions[-1], velocities[-1])], 0.0
        self._tell(points)
        self._told_s, self._passed, self._comes_to_rest = now - late_s, 0, False

    def go_on(self) -> None:
        """Count a control step that confirms the next of the targets sent ahead."""
        self._passed += 1

    def stop(self) -> None:
        """Send the driver a trajectory to rest, unless the last one was sent by `stop` or `halt`."""
        if not self._comes_to_rest:
            self._tell([])

    def halt(self) -> None:
        """Send the driver a trajectory to rest within the limits of braking."""
        self._tell([], halts=True)

    def cycle(self) -> None:
        """Do nothing, as the controller has the trajectory."""

    def _tell(self, targets: list[tuple[float, Vector, Vector]], halts: bool = False) -> None:
        now = self._clock()
        begin = self._plan.after(now - self._began_s)
        self._plan = plan_motion(self._follower, begin, targets, halts)
        self._began_s, self._comes_to_rest = now, True
        self._driver.follow_plan(self._plan.points(FIRST_S, self._period_s))
