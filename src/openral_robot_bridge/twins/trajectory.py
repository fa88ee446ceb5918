"""What a joint trajectory controller makes of its messages: one trajectory at a time, begun where it is led."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openral_control.safety.arm_limits import Vector


@dataclass(frozen=True)
class TrajectoryPoint:
    """A point that the joints pass."""

    after_s: float
    """[s] since the trajectory began."""
    positions: Vector
    """(n,) [rad]"""
    velocities: Vector
    """(n,) [rad/s]"""


class FollowedTrajectory:
    """Cubic splines through points with velocities, as ros2_controllers' joint_trajectory_controller interpolates them
    with `interpolate_from_desired_state`; the last position is held."""

    def __init__(self, positions: Vector) -> None:
        """Hold positions (n,) [rad]."""
        self.hold(positions)

    def hold(self, positions: Vector) -> None:
        """Forget the trajectory, and stay at positions (n,) [rad]."""
        self._points = [TrajectoryPoint(0.0, np.array(positions), np.zeros(len(positions)))]
        self._began_s = 0.0

    def replace(self, now_s: float, points: list[TrajectoryPoint]) -> str:
        """Follow another trajectory from where the joints are led now; return why not, or nothing.

        Args:
            now_s: [s]
            points: in the order of time.
        """
        times = np.array([0.0, *(point.after_s for point in points)])
        if not points:
            return "it has no points"
        if (np.diff(times) <= 0.0).any():
            return "its times do not rise"
        if np.abs(points[-1].velocities).max() > 1e-6:
            return "it ends with a velocity, and allow_nonzero_velocity_at_trajectory_end is false"
        if not all(
            np.isfinite(point.positions).all() and np.isfinite(point.velocities).all() for point in points
        ):
            return "it is not finite"
        positions, velocities = self.at(now_s)
        self._points = [TrajectoryPoint(0.0, positions, velocities), *points]
        self._began_s = now_s
        return ""

    def at(self, now_s: float) -> tuple[Vector, Vector]:
        """Return where the joints are led, (n,) [rad], and how fast, (n,) [rad/s]."""
        gone_s = now_s - self._began_s
        last = self._points[-1]
        if gone_s >= last.after_s:
            return last.positions.copy(), np.zeros_like(last.velocities)
        index = next(place for place, point in enumerate(self._points) if point.after_s > gone_s)
        begin, end = self._points[index - 1], self._points[index]
        span = end.after_s - begin.after_s
        share = max(0.0, gone_s - begin.after_s) / span
        return _hermite(begin, end, span, share)


def _hermite(
    begin: TrajectoryPoint, end: TrajectoryPoint, span: float, share: float
) -> tuple[Vector, Vector]:
    """Return position and velocity on the cubic between two points `span` [s] apart, at a share of it."""
    s, way = share, end.positions - begin.positions
    first, second = span * begin.velocities, span * end.velocities
    position = (
        begin.positions
        + first * s
        + (3 * way - 2 * first - second) * s**2
        + (first + second - 2 * way) * s**3
    )
    velocity = (first + 2 * (3 * way - 2 * first - second) * s + 3 * (first + second - 2 * way) * s**2) / span
    return position, velocity
