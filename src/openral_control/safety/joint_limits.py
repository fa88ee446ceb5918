"""Limits of an arm's joints, with speeds that depend on the positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError
from openral_core.files.yaml_document import Document
from openral_core.robot import RobotDescription

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ArmLimits:
    """Limits of n joints; each field is (n,)."""

    names: tuple[str, ...]
    low: Vector
    """[rad]"""
    high: Vector
    """[rad]"""
    velocity: Vector
    """[rad/s]"""
    acceleration: Vector
    """[rad/s²]"""
    jerk: Vector
    """[rad/s³]"""
    velocity_offset: Vector
    """[rad/s] v0 of `speeds_at`."""
    deceleration: Vector
    """[rad/s²] a of `speeds_at`; inf: the speed does not depend on the position."""

    def speeds_at(self, positions: Vector) -> tuple[Vector, Vector]:
        """Return the least and the greatest allowed velocity [rad/s] of joints at `positions` (n,) or (k, n) [rad].

        Towards an end of its range at the distance d, the speed of a joint is limited to
        min(v, max(0, sqrt(2 a d) - v0)), as in libfranka 0.21 (joint_velocity_limits.cpp).
        """
        return -self._speeds(positions - self.low), self._speeds(self.high - positions)

    def speeds_towards(self, ways: Vector, positions: Vector) -> Vector:
        """Return the greatest allowed speeds [rad/s] of joints at `positions`, (n,) or (k, n) [rad]; see `speeds_at`.

        Args:
            ways: (n,) 1 where a joint moves towards the upper end of its range, else -1.
            positions: of the joints.
        """
        return self._speeds(ways * (np.where(ways > 0.0, self.high, self.low) - positions))

    def within(self, other: ArmLimits) -> ArmLimits:
        """Return the narrower of two limits of the same joints; v0 and a of `speeds_at` are those of `other`."""
        return ArmLimits(
            self.names,
            np.maximum(self.low, other.low),
            np.minimum(self.high, other.high),
            np.minimum(self.velocity, other.velocity),
            np.minimum(self.acceleration, other.acceleration),
            np.minimum(self.jerk, other.jerk),
            other.velocity_offset,
            other.deceleration,
        )

    def _speeds(self, room: Vector) -> Vector:
        """Return the allowed speeds [rad/s] of joints at a distance [rad] from an end of their ranges."""
        twice, offset = self._slowing
        slowing = np.sqrt(twice * np.maximum(room, 0.0)) - offset
        speeds: Vector = np.minimum(self.velocity, np.maximum(slowing, 0.0))
        return speeds

    @cached_property
    def _slowing(self) -> tuple[Vector, Vector]:
        """2 a and v0 of `speeds_at`, each (n,); 0 and -inf where the speed does not depend on the position."""
        fixed = np.isinf(self.deceleration)
        return 2.0 * np.where(fixed, 0.0, self.deceleration), np.where(fixed, -np.inf, self.velocity_offset)


def limits_of(robot: RobotDescription) -> ArmLimits:
    """Return the limits of the joints of role `arm` in robot.yaml, with speeds that do not depend on positions.

    Raises:
        ManifestError: one of them is missing.
    """
    joints = [joint for joint in robot.joints if joint.role == "arm"]
    if missing := _missing(robot):
        raise ManifestError("\n".join(missing))
    low, high = np.array([joint.position_limits for joint in joints], dtype=np.float64).T
    count = len(joints)
    return ArmLimits(
        tuple(joint.name for joint in joints),
        low,
        high,
        np.array([joint.velocity_limit for joint in joints], dtype=np.float64),
        np.array([joint.acceleration_limit for joint in joints], dtype=np.float64),
        np.array([joint.jerk_limit for joint in joints], dtype=np.float64),
        np.zeros(count),
        np.full(count, np.inf),
    )


def position_margins(robot: RobotDescription, margin_rad: float) -> Vector:
    """Return the margins (n,) [rad or m] from the ends of the joints' ranges: the given one [rad], 0 where one slides.

    An angle is no length, and a range of 0.2 m would have no middle with 0.1 m less at each end.
    """
    joints = [joint for joint in robot.joints if joint.role == "arm"]
    return np.array([0.0 if joint.joint_type == "prismatic" else margin_rad for joint in joints])


def _missing(robot: RobotDescription) -> list[str]:
    """Return one line for each missing limit of a joint of role `arm`."""
    document, lines = robot.source or Document(Path(f"robots/{robot.name}/robot.yaml")), []
    for index, joint in enumerate(robot.joints):
        for name in ("position_limits", "velocity_limit", "acceleration_limit", "jerk_limit"):
            if joint.role == "arm" and getattr(joint, name) is None:
                what = f"{joint.name} has no {name}, which a real arm needs"
                lines.append(document.fault(("joints", index, name), what, "add it"))
    return lines
