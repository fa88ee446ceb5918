"""Motion that an arm's controller is told ahead: sampled, jerk-limited, and from where the last one has led by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_robot_bridge.driver import TrajectoryPoint

FINE_S = 0.004
"""[s] between two samples of a plan, which is how exactly another one goes on from it."""
REST_S = 5.0
"""[s] that coming to rest may take at the end of a plan."""


@dataclass(frozen=True)
class PlannedMotion:
    """Samples `FINE_S` apart, each (T, n); the joints are at rest from the last one on."""

    positions: Vector
    """[rad]"""
    velocities: Vector
    """[rad/s]"""
    accelerations: Vector
    """[rad/s²]"""

    @property
    def lasts_s(self) -> float:
        """[s] until the joints are at rest."""
        return FINE_S * (len(self.positions) - 1)

    def after(self, gone_s: float) -> tuple[Vector, Vector, Vector]:
        """Return positions, velocities and accelerations (n,) at the sample nearest to a time [s] since the start."""
        index = int(np.clip(round(gone_s / FINE_S), 0, len(self.positions) - 1))
        return self.positions[index], self.velocities[index], self.accelerations[index]

    def points(self, first_s: float, period_s: float) -> list[TrajectoryPoint]:
        """Return points for a trajectory controller: one after `first_s`, then one each `period_s`, and rest.

        What leads to the first point is the controller's to interpolate, from where it has led the joints. So a message
        that is late by a little moves them no more abruptly.
        """
        first, step, last = round(first_s / FINE_S), round(period_s / FINE_S), len(self.positions) - 1
        rest = self.positions[last], np.zeros_like(self.positions[last]), np.zeros_like(self.positions[last])
        passed = [
            TrajectoryPoint(
                FINE_S * index, self.positions[index], self.velocities[index], self.accelerations[index]
            )
            for index in range(first, last - step // 2, step)
        ]
        return [*passed, TrajectoryPoint(FINE_S * max(first, last), *rest)]


def resting(positions: Vector) -> PlannedMotion:
    """Return the plan of joints that stay at positions (n,) [rad]."""
    still = np.zeros((1, len(positions)))
    return PlannedMotion(np.array(positions)[None], still, still)


def plan_motion(
    follower: OnlineTrajectory,
    begin: tuple[Vector, Vector, Vector],
    targets: Sequence[tuple[float, Vector, Vector]],
    halts: bool = False,
) -> PlannedMotion:
    """Return the motion through targets, and from the last one to rest.

    Args:
        follower: whose cycle is FINE_S; what it did before is forgotten.
        begin: positions, velocities and accelerations (n,) to begin with.
        targets: times [s] from now in rising order, positions (n,) [rad], and velocities (n,) [rad/s] with which they
            are passed; none: come to rest.
        halts: come to rest within the limits of braking, not of motion.

    Raises:
        ControlError: there is no way to rest within the limits.
    """
    follower.restart(*begin)
    samples = [begin]
    for due_s, positions, velocities in targets:
        follower.lead(positions, velocities, max(FINE_S, due_s - FINE_S * (len(samples) - 1)))
        while FINE_S * len(samples) <= due_s + 1e-9:
            samples.append(_cycle(follower))
    if halts:
        follower.halt()
    else:
        follower.stop()
    ends = len(samples) + round(REST_S / FINE_S)
    while not follower.at_rest and len(samples) < ends:
        samples.append(_cycle(follower))
    positions, velocities, accelerations = (np.stack(column) for column in zip(*samples, strict=True))
    return PlannedMotion(positions, velocities, accelerations)


def _cycle(follower: OnlineTrajectory) -> tuple[Vector, Vector, Vector]:
    positions, velocities = follower.cycle()
    return positions, velocities, follower.accelerations
