"""The target pose of the hand: a set point to which displacements are added, or a simulated hand on a spring."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.scene import SceneAction
from openral_sim_bridge.backends.mjcf.kinematics import Chain, HandMotion, rotation_between, turned

LEASH_S = 0.1
"""[s] limit of the target's lead over the hand, as time of motion at full command. It is enough for free motion, and
keeps the target from winding up when the hand is obstructed."""
STEP_RAD = 0.5
"""[rad] rotation of the hand by a command of 1 where the scene's `action.step_rad` is absent, as in robosuite."""
SPRUNG_TURN_M = 0.3
"""[m/rad] weight of an orientation error in `Chain.solve`. It is below 1 because robosuite's OSC_POSE controls position
and orientation separately (`uncouple_pos_ori`), so that a hand at the end of the arm's reach keeps to its position and
tilts."""


class HandTarget(Protocol):
    """A pose of the hand in the world, moved by actions."""

    position: NDArray[np.float64]
    """(3,) [m]"""
    quaternion: NDArray[np.float64]
    """(4,) w, x, y, z"""
    turn_m: float
    """[m/rad] weight of an error of the hand's orientation relative to one of its position; see `Chain.solve`."""

    def restart(self, data: Any) -> None:
        """Set the target to the hand's present pose."""
        ...

    def move(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move the target by one control step with numbers (3,) or (6,), each -1 to 1."""
        ...

    def go_on_from(self, hand: HandMotion) -> bool:
        """Offer the motion of a hand that could not follow the target; return whether it replaced the target."""
        ...


class SetPoint:
    """A set point that actions displace along the world's axes; its distance from the hand is limited by `LEASH_S`."""

    turn_m = 1.0

    def __init__(self, chain: Chain, step_m: float, step_rad: float, dt: float) -> None:
        self._chain, self._step_m, self._step_rad = chain, step_m, step_rad
        self._leash_m, self._leash_rad = LEASH_S * step_m / dt, LEASH_S * step_rad / dt
        self.position, self.quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def restart(self, data: Any) -> None:
        """Set the target to the hand's present pose."""
        self.position, self.quaternion = self._chain.hand(data)

    def move(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Displace the set point by numbers (3,) or (6,), each -1 to 1, in units of `step_m` and `step_rad`."""
        here, turn = self._chain.hand(data)
        rotation = rotation_between(turn, self.quaternion)
        if len(numbers) == 6:
            self.quaternion = turned(
                turned(turn, _at_most(rotation, self._leash_rad)), self._step_rad * numbers[3:]
            )
        self.position = here + _at_most(self.position - here, self._leash_m) + self._step_m * numbers[:3]

    def go_on_from(self, hand: HandMotion) -> bool:
        """Keep the set point, since displacements add up and the hand has to catch up with it; return False."""
        return False


class SprungHand:
    """A unit mass on a critically damped spring, whose goal is the mass's position plus each action's displacement.

    robosuite's OSC_POSE moves a hand like this (kp 150, damping ratio 1, with a new goal relative to the hand at every
    action). At a constant command c the speed is sqrt(kp) / 2 * c * step_m, which is 0.31 m/s for a step of 5 cm. The
    motion is solved exactly for each control step. The mass is the target of the hand; its distance from the hand is
    limited by `LEASH_S`.
    """

    turn_m = SPRUNG_TURN_M

    def __init__(self, chain: Chain, step_m: float, step_rad: float, stiffness: float, dt: float) -> None:
        self._chain, self._dt, self._rate = chain, dt, math.sqrt(stiffness)
        self._step_m, self._step_rad = step_m, step_rad
        fastest = self._rate / 2.0  # times the displacement of a full command, per second
        self._leash_m, self._leash_rad = LEASH_S * fastest * step_m, LEASH_S * fastest * step_rad
        self.position, self.quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._velocity, self._spin = np.zeros(3), np.zeros(3)

    def restart(self, data: Any) -> None:
        """Set the target to the hand's present pose, at rest."""
        self.position, self.quaternion = self._chain.hand(data)
        self._velocity, self._spin = np.zeros(3), np.zeros(3)

    def move(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Advance the mass by one control step with numbers (3,) or (6,), each -1 to 1."""
        here, turn = self._chain.hand(data)
        ahead, self._velocity = self._drawn(self._step_m * numbers[:3], self._velocity)
        self.position = here + _at_most(self.position + ahead - here, self._leash_m)
        if len(numbers) == 6:
            ahead, self._spin = self._drawn(self._step_rad * numbers[3:], self._spin)
            rotation = rotation_between(turn, turned(self.quaternion, ahead))
            self.quaternion = turned(turn, _at_most(rotation, self._leash_rad))

    def go_on_from(self, hand: HandMotion) -> bool:
        """Replace the motion of the mass by that of the hand; return True.

        A mass ahead of an arm with less acceleration would brake too late, and the hand would overshoot.
        """
        self.position, self.quaternion = hand.position, hand.quaternion
        self._velocity, self._spin = hand.velocity, hand.spin
        return True

    def _drawn(
        self, goal: NDArray[np.float64], velocity: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the displacement (3,) of the mass in a control step towards `goal` (3,), and its velocity after it.

        x'' = w^2 (goal - x) - 2 w x' with x(0) = 0: x - goal = (-goal + (v - w goal) t) exp(-w t).
        """
        rate, time = self._rate, self._dt
        push, decay = velocity - rate * goal, math.exp(-rate * time)
        off = (push * time - goal) * decay
        return goal + off, push * decay - rate * off


def make_target(action: SceneAction, chain: Chain, dt: float) -> HandTarget:
    """Return the target of one world for a scene's actions; `dt` [s] is a control step."""
    step_m, step_rad = float(action.step_m or 0.0), float(action.step_rad or STEP_RAD)
    if action.stiffness is not None:
        return SprungHand(chain, step_m, step_rad, action.stiffness, dt)
    return SetPoint(chain, step_m, step_rad, dt)


def _at_most(vector: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """Return a vector (3,), shortened to `length` if it is longer."""
    return vector * min(1.0, length / max(math.sqrt(vector.dot(vector)), 1e-12))
