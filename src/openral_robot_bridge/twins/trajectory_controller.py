"""Model of a joint trajectory controller: it follows one trajectory at a time, from its present commanded state."""

from __future__ import annotations

import numpy as np

from openral_control.safety.joint_limits import Vector
from openral_robot_bridge.driver import TrajectoryPoint

Led = tuple[Vector, Vector, Vector]
"""Positions (n,) [rad], velocities (n,) [rad/s] and accelerations (n,) [rad/s²]."""


class FollowedTrajectory:
    """Interpolates like ros2_controllers' joint_trajectory_controller with `interpolate_from_desired_state`.

    As in its Trajectory::interpolate_between_points (trajectory.cpp), interpolation is cubic between two points, and
    quintic if both have accelerations. The last position is held.
    """

    def __init__(self, positions: Vector) -> None:
        """Hold positions (n,) [rad]."""
        self.hold(positions)

    def hold(self, positions: Vector) -> None:
        """Discard the trajectory, and hold positions (n,) [rad]."""
        still = np.zeros(len(positions))
        self._points = [TrajectoryPoint(0.0, np.array(positions), still, still)]
        self._began_s = 0.0

    def replace(self, now_s: float, points: list[TrajectoryPoint]) -> str:
        """Follow another trajectory from the present commanded state; return why it is rejected, or an empty text.

        Args:
            now_s: [s] present time of the controller.
            points: in the order of time.
        """
        times = np.array([0.0, *(point.after_s for point in points)])
        if not points:
            return "it has no points"
        if (np.diff(times) <= 0.0).any():
            return "its times do not rise"
        if np.abs(points[-1].velocities).max() > 1e-6:
            return "it ends with a velocity, and allow_nonzero_velocity_at_trajectory_end is false"
        if not all(_is_finite(point) for point in points):
            return "it is not finite"
        self._points = [TrajectoryPoint(0.0, *self.at(now_s)), *points]
        self._began_s = now_s
        return ""

    def at(self, now_s: float) -> Led:
        """Return the commanded positions, velocities and accelerations at a time [s]."""
        gone_s = now_s - self._began_s
        last = self._points[-1]
        if gone_s >= last.after_s:
            return last.positions.copy(), np.zeros_like(last.velocities), np.zeros_like(last.velocities)
        index = next(place for place, point in enumerate(self._points) if point.after_s > gone_s)
        begin, end = self._points[index - 1], self._points[index]
        span = end.after_s - begin.after_s
        return _interpolated(begin, end, span, min(max(0.0, gone_s - begin.after_s), span))


def _is_finite(point: TrajectoryPoint) -> bool:
    fields = (point.positions, point.velocities, point.accelerations)
    return all(field is None or bool(np.isfinite(field).all()) for field in fields)


def _interpolated(begin: TrajectoryPoint, end: TrajectoryPoint, span: float, time: float) -> Led:
    """Return the state at `time` [s] after `begin` on the polynomial between two points that are `span` [s] apart."""
    way, first, last = end.positions - begin.positions, span * begin.velocities, span * end.velocities
    if begin.accelerations is None or end.accelerations is None:
        factors = [begin.positions, first, 3 * way - 2 * first - last, first + last - 2 * way]
    else:
        bend, bend_then = span**2 * begin.accelerations, span**2 * end.accelerations
        factors = [
            begin.positions,
            first,
            0.5 * bend,
            10 * way - 6 * first - 4 * last - 1.5 * bend + 0.5 * bend_then,
            -15 * way + 8 * first + 7 * last + 1.5 * bend - bend_then,
            6 * way - 3 * first - 3 * last - 0.5 * bend + 0.5 * bend_then,
        ]
    share, powers = time / span, range(len(factors))
    position = sum(factors[n] * share**n for n in powers)
    velocity = sum(n * factors[n] * share ** (n - 1) for n in powers[1:])
    acceleration = sum(n * (n - 1) * factors[n] * share ** (n - 2) for n in powers[2:])
    return np.asarray(position), np.asarray(velocity) / span, np.asarray(acceleration) / span**2
