"""Where actions lead the hand: a set point that displacements are added to, or a hand on a spring."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.scene import SceneAction
from openral_sim_bridge.backends.mjcf.kinematics import Chain, HandMotion, rotation_between, turned

LEASH_S = 0.1
"""[s] at full command: so far ahead of the hand may its set point run. It follows where the arm is free, and does
not wind up where something is in the way."""
STEP_RAD = 0.5
"""[rad] rotation of the hand by a command of 1 where the scene's `action.step_rad` is absent, as in robosuite."""
SPRUNG_TURN_M = 0.3
"""[m/rad] OSC_POSE draws position and orientation by springs of their own (`uncouple_pos_ori`), so that a hand at the
end of the arm's reach goes on to its place and tilts."""


class HandTarget(Protocol):
    """A pose of the hand in the world, moved by actions."""

    position: NDArray[np.float64]
    """(3,) [m]"""
    quaternion: NDArray[np.float64]
    """(4,) w, x, y, z"""
    turn_m: float
    """[m/rad] what an error of the hand's orientation counts beside one of its position; see `Chain.solve`."""

    def restart(self, data: Any) -> None:
        """Take the present pose."""
        ...

    def move(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Move by one control step of (3,) or (6,) numbers in -1..1."""
        ...

    def go_on_from(self, hand: HandMotion) -> bool:
        """Take the hand's motion after a step in which it could not be led all the way; tell whether it was taken."""
        ...


class SetPoint:
    """The set point of the hand, displaced by actions in the world's axes, on a leash."""

    turn_m = 1.0

    def __init__(self, chain: Chain, step_m: float, step_rad: float, dt: float) -> None:
        self._chain, self._step_m, self._step_rad = chain, step_m, step_rad
        self._leash_m, self._leash_rad = LEASH_S * step_m / dt, LEASH_S * step_rad / dt
        self.position, self.quaternion = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def restart(self, data: Any) -> None:
        """Take the present pose."""
        self.position, self.quaternion = self._chain.hand(data)

    def move(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Displace the set point by (3,) or (6,) numbers in -1..1."""
        here, turn = self._chain.hand(data)
        rotation = rotation_between(turn, self.quaternion)
        if len(numbers) == 6:
            self.quaternion = turned(
                turned(turn, _at_most(rotation, self._leash_rad)), self._step_rad * numbers[3:]
            )
        self.position = here + _at_most(self.position - here, self._leash_m) + self._step_m * numbers[:3]

    def go_on_from(self, hand: HandMotion) -> bool:
        """Stay where it is: displacements add up, and what the hand lags behind is made up for."""
        return False


class SprungHand:
    """A hand that a critically damped spring of unit mass draws to where each action displaces it from where it is.

    So robosuite's OSC_POSE moves a hand (kp 150, damping ratio 1, its goal set anew from the hand at every action): at
    a constant command c it goes at sqrt(kp) / 2 * c * step_m: 0.31 m/s for a step of 5 cm. The spring is solved
    exactly for a control step; the drives are then led along with the hand that it describes, on a leash.
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
        """Take the present pose, at rest."""
        self.position, self.quaternion = self._chain.hand(data)
        self._velocity, self._spin = np.zeros(3), np.zeros(3)

    def move(self, data: Any, numbers: NDArray[np.float64]) -> None:
        """Let a control step pass with a displacement of (3,) or (6,) numbers in -1..1."""
        here, turn = self._chain.hand(data)
        ahead, self._velocity = self._drawn(self._step_m * numbers[:3], self._velocity)
        self.position = here + _at_most(self.position + ahead - here, self._leash_m)
        if len(numbers) == 6:
            ahead, self._spin = self._drawn(self._step_rad * numbers[3:], self._spin)
            rotation = rotation_between(turn, turned(self.quaternion, ahead))
            self.quaternion = turned(turn, _at_most(rotation, self._leash_rad))

    def go_on_from(self, hand: HandMotion) -> bool:
        """Take the hand's motion for that of the mass on the spring.

        A mass that ran ahead of an arm with less acceleration would brake late, and the hand overshoot.
        """
        self.position, self.quaternion = hand.position, hand.quaternion
        self._velocity, self._spin = hand.velocity, hand.spin
        return True

    def _drawn(
        self, goal: NDArray[np.float64], velocity: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the way (3,) that the spring draws the hand in a control step towards `goal`, and its velocity then.

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
    """Return a vector (3,), shortened to a length if need be."""
    return vector * min(1.0, length / max(float(np.linalg.norm(vector)), 1e-12))
