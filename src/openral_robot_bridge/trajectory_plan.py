"""Jerk-limited, sampled motion for a trajectory controller, which begins at the present state of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_control.safety.online_trajectory import OnlineTrajectory
from openral_robot_bridge.driver import TrajectoryPoint

FINE_S = 0.004
"""[s] between two samples of a plan, and thus the resolution at which another one can take over."""
REST_S = 5.0
"""[s] longest time to come to rest at the end of a plan."""


@dataclass(frozen=True)
class PlannedMotion:
    """T samples `FINE_S` apart, each array (T, n); the joints are at rest from the last sample on."""

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
        """Return positions, velocities and accelerations (n,) of the sample nearest to `gone_s` [s] after the start."""
        index = int(np.clip(round(gone_s / FINE_S), 0, len(self.positions) - 1))
        return self.positions[index], self.velocities[index], self.accelerations[index]

    def points(self, first_s: float, period_s: float) -> list[TrajectoryPoint]:
        """Return points for a trajectory controller: one after `first_s` [s], then one each `period_s` [s], then rest.

        Points are at least `FINE_S` apart.

        The controller interpolates from its present commanded state to the first point, so that a message with a small
        delay causes no abrupt motion.
        """
        first, last = round(first_s / FINE_S), len(self.positions) - 1
        step = max(1, round(period_s / FINE_S))
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
        follower: whose cycle is FINE_S; its former state is discarded.
        begin: initial positions [rad], velocities [rad/s] and accelerations [rad/s²], each (n,).
        targets: (time [s] from now, positions (n,) [rad], velocities (n,) [rad/s]) in the order of time; empty: come
            to rest.
        halts: come to rest within the limits of braking instead of those of motion.

    Raises:
        ControlError: there is no motion to rest within the limits.
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
