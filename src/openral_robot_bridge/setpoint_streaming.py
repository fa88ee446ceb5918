"""How the driver's process leads an arm: from target to target, or by trajectories that reach ahead."""

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
"""[s] from a message to its first point. A message that is 2 ms later than the one before changes the acceleration of a
joint at 0.5 rad/s by 1.6 rad/s²: on a quintic by 10 / sqrt(3) times the way that is missing over this time squared."""


class Leader(Protocol):
    """What keeps an arm's motion smooth. Used from one thread."""

    @property
    def at_rest(self) -> bool:
        """Whether the joints are led to stand still."""
        ...

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        ...

    def lead(self, positions: Vector, velocities: Vector, dt: float) -> None:
        """Lead the joints through targets (k, n) [rad] with velocities (k, n) [rad/s], `dt` [s] apart, from now on.

        Raises:
            OpenralError: the arm cannot be moved, or there is no way within the limits.
        """
        ...

    def go_on(self) -> None:
        """Count one more of the targets that were told: who leads the arm is there with it."""
        ...

    def stop(self) -> None:
        """Lead the joints to rest: nobody says where to. Raises OpenralError, as `lead` does."""
        ...

    def halt(self) -> None:
        """Lead the joints to rest as quickly as the limits of braking allow. Raises OpenralError, as `lead` does."""
        ...

    def cycle(self) -> None:
        """Say what is due now. Raises OpenralError, as `lead` does."""
        ...


class StreamLeader:
    """Gives a driver one target in each cycle."""

    def __init__(
        self, driver: StreamedDriver, follower: OnlineTrajectory, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the driver, and a follower whose cycle is that of its stream."""
        self._driver, self._follower, self._clock = driver, follower, clock
        self._due_s = float("-inf")

    @property
    def at_rest(self) -> bool:
        """Whether the joints are led to stand still."""
        return self._follower.at_rest

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        self._follower.restart(positions)

    def lead(self, positions: Vector, velocities: Vector, dt: float) -> None:
        """Aim at the first of the targets; those after it come in time.

        It is due `dt` after the one before it was, though it comes a little earlier or later, as each target does where
        a step is no whole number of cycles. Joints at their greatest acceleration could not make up for less time, and
        all joints would wait for the one that is late: they fell behind by up to half a radian.
        """
        now = self._clock()
        in_step = abs(self._due_s - now) < dt / 2.0
        self._due_s = (self._due_s if in_step else now) + dt
        self._follower.lead(positions[0], velocities[0], self._due_s - now)

    def go_on(self) -> None:
        """Nothing: targets come one by one."""

    def stop(self) -> None:
        """Lead the joints to rest."""
        self._follower.stop()

    def halt(self) -> None:
        """Lead the joints to rest as quickly as the limits of braking allow."""
        self._follower.halt()

    def cycle(self) -> None:
        """Give the driver its next target."""
        self._driver.follow(*self._follower.cycle())


class PlanLeader:
    """Gives a driver the whole way ahead when it changes. Each way begins where the one before has led by then."""

    def __init__(
        self,
        driver: PlannedDriver,
        follower: OnlineTrajectory,
        period_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the driver, a follower whose cycle is `trajectory_plan.FINE_S`, and the time [s] between two points."""
        self._driver, self._follower, self._period_s, self._clock = driver, follower, period_s, clock
        self._began_s = 0.0
        self._told_s, self._passed = 0.0, 0
        self._comes_to_rest = True
        self.restart(np.zeros(len(follower.limits.names)))

    @property
    def at_rest(self) -> bool:
        """Whether the joints are led to stand still."""
        return self._comes_to_rest and self._clock() - self._began_s >= self._plan.lasts_s

    def restart(self, positions: Vector) -> None:
        """Begin at rest at positions (n,) [rad]."""
        self._plan: PlannedMotion = resting(positions)
        self._comes_to_rest = True

    def lead(self, positions: Vector, velocities: Vector, dt: float) -> None:
        """Tell the driver the way through targets (k, n) [rad], and from the last one to rest.

        Where who leads the arm is late, the arm has gone on as it was told, and does not go back: what it has passed is
        left out, and what remains comes that much earlier.
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
        """Count one more of the targets that were told."""
        self._passed += 1

    def stop(self) -> None:
        """Tell the driver the way to rest, once; a way that has ended is at rest."""
        if not self._comes_to_rest:
            self._tell([])

    def halt(self) -> None:
        """Tell the driver the quickest way to rest."""
        self._tell([], halts=True)

    def cycle(self) -> None:
        """Nothing is due: the controller knows the way."""

    def _tell(self, targets: list[tuple[float, Vector, Vector]], halts: bool = False) -> None:
        now = self._clock()
        begin = self._plan.after(now - self._began_s)
        self._plan = plan_motion(self._follower, begin, targets, halts)
        self._began_s, self._comes_to_rest = now, True
        self._driver.follow_plan(self._plan.points(FIRST_S, self._period_s))
