"""One control step of an arm, as the checks of the safety filter see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from openral_control.safety.arm_limits import Vector


@dataclass(frozen=True)
class Step:
    """Where the joints are to be led in one control step. Vectors are (n,)."""

    start: Vector
    """[rad] where they are led already."""
    wanted: Vector
    """[rad] where they are to be led by the end of the step."""
    dt: float
    """[s]"""
    now_s: float
    """[s] monotonic."""
    measured: Vector
    """[rad] where they are."""
    external: Vector
    """[Nm] torques from outside."""


class Check(Protocol):
    """One rule of the safety filter."""

    name: str
    """How status, diagnostics and the record call it."""

    def share(self, step: Step) -> float:
        """Return how much of the way from `start` to `wanted` may be gone: 1 all of it, 0 the arm holds."""
        ...


class ArmGeometry(Protocol):
    """What an arm's model says about a posture of its joints (n,) [rad]."""

    def points(self, joints: Vector) -> tuple[Vector, Vector]:
        """Return where hand and elbow are, (3,) [m] each in the world frame."""
        ...

    def distance(self, joints: Vector, limit_m: float) -> float:
        """Return the least distance [m] of the arm to itself and to what stands around it; at most `limit_m`."""
        ...

    def condition(self, joints: Vector) -> float:
        """Return the condition number of the hand's Jacobian; inf where it is singular."""
        ...


HALVINGS = (1.0, 0.5, 0.25)
"""Shares of a way that are tried where a rule has no formula for the longest allowed one."""
