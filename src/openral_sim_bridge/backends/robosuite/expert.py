"""Scripted experts for Lift, Stack and PickPlaceCan, which use the privileged positions of objects.

An expert is a function of the present state alone. It is therefore defined in every state that a disturbance leads
to, and a policy without memory can learn it: an object that slipped is picked again, and a hand that was pushed aside
rises before it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_sim_bridge.backends.remote_sim.command_modes import OPEN

CLOSED = -OPEN
METRES, RADIANS = 0.05, 0.5
"""[m], [rad] displacement and rotation of the hand by a command of 1."""
POINTING_DOWN = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""Orientation of the grip site with the fingers straight down and opening along the world's y axis."""

NEIGHBOUR = 0.085
"""[m] horizontal distance between two cubes' centres below which an open finger may come down on the other cube."""
ASIDE = np.pi / 3
"""[rad] angle between the fingers' axis and the direction of such a neighbour that suffices to pass it."""


@dataclass(frozen=True)
class ArmSettings:
    """The parameters of the experts for one arm."""

    gain: float
    """Factor from the displacement to the target, in units of `METRES`, to the command. At 1.6 OSC_POSE (kp 150,
    critically damped) overshoots by a few percent at most."""
    turning: float
    """Share of the rotation to the wanted orientation that is commanded."""
    leaning: float = 0.0
    """[rad/m] outward tilt of the hand about the world's x axis, per metre of its target's distance to the side."""
    round_yaw: float = 0.0
    """[rad] yaw of the hand for round objects, which can be grasped at any yaw."""


ARM_SETTINGS = {"Panda": ArmSettings(1.6, 1.0), "Sawyer": ArmSettings(5.0, 0.2, leaning=1.8, round_yaw=-1.5)}
"""Settings by robosuite's name of the arm. robosuite's Sawyer touches its own base, and this contact holds the first
joint against 77 of its motor's 80 Nm. The arm therefore reaches to the side by leaning, and hardly moves if its hand
has to point straight down there. Fingers that open along x stay level while it leans, so a can between them stays
upright."""


@dataclass(frozen=True)
class PrivilegedState:
    """The part of a world's state that an expert uses; positions [m] in the world frame."""

    hand: NDArray[np.float64]
    """(3,) point between the fingertips."""
    rotation: NDArray[np.float64]
    """(3, 3) orientation of the grip site in the world frame."""
    held: bool
    """Whether both finger pads touch the object."""
    thing: NDArray[np.float64]
    """(3,) centre of the object that is to be moved."""
    settings: ArmSettings
    """Of the arm."""
    goal: NDArray[np.float64]
    """(3,) where the object's centre is to come to rest, or, in Lift, to be held."""


@dataclass(frozen=True)
class Approach:
    """The shape of an approach to a point from above, through a funnel."""

    clearance: float
    """[m] height above the point while the hand is far away."""
    mouth: float = 0.008
    """[m] horizontal distance within which the hand descends to the point."""
    slope: float = 5.0
    """[m/m] increase of the height with the horizontal distance beyond `mouth`, up to `clearance`."""


PICK = Approach(clearance=0.08)
OVER_CUBES = Approach(clearance=0.07)
OVER_WALLS = Approach(clearance=0.16, mouth=0.03, slope=4.0)
"""A can 16 cm above its goal clears the wall between the bins."""


def lift(state: PrivilegedState) -> NDArray[np.float64]:
    """Return the command (7,) that lifts the cube."""
    if not state.held:
        return pick(state)
    up = np.array([0.0, 0.0, state.goal[2] - state.thing[2]])
    return command(state, up, CLOSED)


def stack(state: PrivilegedState) -> NDArray[np.float64]:
    """Return the command (7,) that puts the small cube onto the large one."""
    left = state.goal - state.thing
    if np.linalg.norm(left[:2]) < 0.02 and abs(left[2]) < 0.006:
        return let_go(state)
    if not state.held:
        return pick(state, yaw=clear_of_neighbour(left))
    # Rotating the hand back beside the large cube would knock it over.
    yaw = yaw_of(state) if left[2] > 0 else 0.0
    return command(state, through(left, OVER_CUBES), CLOSED, yaw)


def place(state: PrivilegedState) -> NDArray[np.float64]:
    """Return the command (7,) that puts the can into its compartment of the bin."""
    left = state.goal - state.thing
    if np.abs(left[:2]).max() < 0.05 and left[2] > -0.025:
        return let_go(state, state.settings.round_yaw)
    if state.held:
        return command(state, through(left, OVER_WALLS), CLOSED, state.settings.round_yaw)
    return pick(state, above=0.015, yaw=state.settings.round_yaw)


EXPERTS: dict[str, Callable[[PrivilegedState], NDArray[np.float64]]] = {
    "Lift": lift,
    "Stack": stack,
    "PickPlaceCan": place,
}
"""Expert by robosuite's name of the task."""


def clear_of_neighbour(way: NDArray[np.float64]) -> float:
    """Return the yaw [rad] at which open fingers pass a neighbour at `way` (3,) [m] from the object."""
    if np.linalg.norm(way[:2]) > NEIGHBOUR:
        return 0.0
    towards = (
        float(np.arctan(-way[0] / way[1])) if way[1] else np.pi / 2
    )  # the yaw that points a finger at it
    if abs(towards) > ASIDE:
        return 0.0
    return towards - ASIDE if towards > 0 else towards + ASIDE


def pick(state: PrivilegedState, above: float = 0.0, yaw: float = 0.0) -> NDArray[np.float64]:
    """Return the command (7,) that grasps the object `above` [m] its centre, with the hand at `yaw` [rad]."""
    way = state.thing - state.hand + np.array([0.0, 0.0, above])
    there = np.linalg.norm(way[:2]) < 0.016 and abs(way[2]) < 0.012
    return command(state, through(way, PICK), CLOSED if there else OPEN, yaw)


def let_go(state: PrivilegedState, yaw: float = 0.0) -> NDArray[np.float64]:
    """Return the command (7,) that opens the fingers, and raises the hand as soon as they hold nothing.

    Until then the hand still moves towards the goal, since a leaning arm without a commanded displacement springs back.
    """
    if state.held:
        return command(state, np.append((state.goal - state.thing)[:2], 0.0), OPEN, yaw)
    return command(state, np.array([0.0, 0.0, max(0.0, state.goal[2] + 0.15 - state.hand[2])]), OPEN, yaw)


def through(way: NDArray[np.float64], passage: Approach) -> NDArray[np.float64]:
    """Return the displacement (3,) [m] to command, so that the end of `way` (3,) [m] is approached from above.

    A hand below the funnel of `passage` rises first, and moves sideways slowly until it is inside.
    """
    distance = float(np.linalg.norm(way[:2]))
    up = way[2] + min(passage.clearance, passage.slope * max(0.0, distance - passage.mouth))
    sideways = np.clip(1.0 - max(0.0, up - 0.01) / 0.04, 0.0, 1.0)
    return np.append(way[:2] * sideways, up)


def command(
    state: PrivilegedState, displacement: NDArray[np.float64], gripper: float, yaw: float = 0.0
) -> NDArray[np.float64]:
    """Return the command (7,), each -1 to 1, for a displacement of a hand that points down.

    The hand of an arm that leans (see `ArmSettings`) is tilted outwards as its position after the displacement needs.

    Args:
        state: the present one.
        displacement: (3,) [m] in the world frame.
        gripper: command of the gripper.
        yaw: [rad] of the hand about the vertical; at 0 the fingers open along y.
    """
    move = state.settings.gain * displacement / METRES
    lean = state.settings.leaning * (state.hand[1] + displacement[1])
    turned = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    leant = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(lean), -np.sin(lean)], [0.0, np.sin(lean), np.cos(lean)]])
    wanted = leant @ turned @ POINTING_DOWN
    turn = rotation_vector(wanted @ state.rotation.T) * state.settings.turning / RADIANS
    return np.concatenate([move / max(1.0, np.abs(move).max()), np.clip(turn, -1.0, 1.0), [gripper]])


def yaw_of(state: PrivilegedState) -> float:
    """Return the hand's yaw [rad], as defined in `command`."""
    turned = state.rotation @ POINTING_DOWN.T
    return float(np.arctan2(turned[1, 0], turned[0, 0]))


def rotation_vector(rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return axis times angle (3,) [rad] of a rotation matrix (3, 3) with an angle below pi."""
    twice: NDArray[np.float64] = np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    sine = float(np.linalg.norm(twice)) / 2
    angle = float(np.arctan2(sine, (np.trace(rotation) - 1) / 2))
    return twice * (angle / (2 * sine) if sine > 1e-9 else 0.5)
