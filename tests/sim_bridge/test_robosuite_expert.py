"""robosuite's experts as functions of the state: in a world of points, where a hand goes where it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_sim_bridge.backends.robosuite.expert import (
    ARM_SETTINGS,
    ASIDE,
    METRES,
    POINTING_DOWN,
    RADIANS,
    PrivilegedState,
    clear_of_neighbour,
    lift,
    place,
    rotation_vector,
    stack,
)

SPEED = 0.3
"""Share of a commanded displacement that a step covers, as OSC_POSE does."""
Vector = NDArray[np.float64]


def about(axis: Vector, angle: float) -> Vector:
    """Rotation (3, 3) by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned: Vector = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return turned


@dataclass
class Points:
    """A hand, a thing that it may hold, and a table; fingers take four steps to close."""

    hand: Vector
    thing: Vector
    goal: Vector
    floor: float
    """[m] height of the thing's centre when it lies."""
    rotation: Vector = field(default_factory=POINTING_DOWN.copy)
    closed: int = 0
    arm: str = "Panda"

    @property
    def held(self) -> bool:
        return self.closed >= 4 and bool(np.linalg.norm(self.hand - self.thing) < 0.04)

    def state(self) -> PrivilegedState:
        return PrivilegedState(
            self.hand, self.rotation, self.held, self.thing, ARM_SETTINGS[self.arm], self.goal
        )

    def step(self, action: Vector) -> None:
        assert action.shape == (7,)
        assert np.abs(action).max() <= 1.0
        before, held = self.hand.copy(), self.held
        self.hand = self.hand + SPEED * METRES * action[:3]
        turn = SPEED * RADIANS * action[3:6]
        if np.linalg.norm(turn) > 0:
            self.rotation = about(turn, float(np.linalg.norm(turn))) @ self.rotation
        self.closed = min(6, self.closed + 1) if action[6] > 0 else 0
        if held and self.held:
            self.thing = self.thing + self.hand - before
        elif not self.held:
            rests = self.goal[2] if np.linalg.norm((self.goal - self.thing)[:2]) < 0.03 else self.floor
            self.thing = np.array([*self.thing[:2], max(rests, self.thing[2] - 0.05)])

    def run(self, expert: Callable[[PrivilegedState], Vector], steps: int) -> None:
        for _ in range(steps):
            self.step(expert(self.state()))


def cube() -> Points:
    return Points(
        np.array([-0.1, 0.0, 1.02]), np.array([0.05, -0.06, 0.82]), np.array([0.05, -0.06, 0.94]), 0.82
    )


def two_cubes() -> Points:
    return Points(
        np.array([-0.1, 0.0, 1.02]), np.array([0.05, -0.06, 0.82]), np.array([-0.03, 0.07, 0.87]), 0.82
    )


def test_the_cube_is_held_at_its_height() -> None:
    world = cube()
    world.run(lift, 60)
    assert world.held
    assert abs(world.thing[2] - 0.94) < 0.005


def test_a_cube_that_slipped_is_picked_again() -> None:
    world = cube()
    world.run(lift, 60)
    world.closed, world.thing = 0, np.array([0.0, 0.1, 0.82])
    assert lift(world.state())[6] < 0, "first the fingers open"
    world.run(lift, 80)
    assert world.held
    assert abs(world.thing[2] - 0.94) < 0.005


def test_the_cube_is_let_go_on_the_other_one_and_left_there() -> None:
    world = two_cubes()
    world.run(stack, 150)
    assert not world.held
    np.testing.assert_allclose(world.thing, world.goal, atol=0.02)
    assert world.hand[2] > world.goal[2] + 0.1, "the hand has risen"
    assert np.abs(stack(world.state())[:6]).max() < 0.05, "and stays"


def test_a_can_passes_over_the_wall_between_the_bins() -> None:
    world = Points(np.array([0.0, -0.1, 1.02]), np.array([0.1, -0.3, 0.86]), np.array([0.2, 0.4, 0.86]), 0.86)
    heights = []
    for _ in range(200):
        world.step(place(world.state()))
        if world.held and abs(world.thing[1]) < 0.05:
            heights.append(world.thing[2])
    assert not world.held
    assert np.abs((world.thing - world.goal)[:2]).max() < 0.05
    assert min(heights) > 0.96, "its bottom, 6 cm lower, is above the wall of 10 cm"


def test_a_sawyer_leans_towards_a_can_at_its_side_with_level_fingers() -> None:
    world = Points(np.array([0.0, -0.1, 1.02]), np.array([0.1, -0.3, 0.86]), np.array([0.2, 0.4, 0.86]), 0.86)
    world.arm = "Sawyer"
    for _ in range(200):
        world.step(place(world.state()))
        if world.held:
            break
    fingers, _, pointing = world.rotation.T
    assert pointing[1] < -0.3, "outwards, where the can lies"
    assert abs(fingers[2]) < abs(pointing[1]) / 3, "they do not lean with the hand"
    world.run(place, 200)
    assert not world.held
    assert np.abs((world.thing - world.goal)[:2]).max() < 0.05
    assert world.rotation[1, 2] > 0.3, "and outwards again on the other side"


def test_a_hand_that_lets_go_still_heads_for_the_goal() -> None:
    can, goal = np.array([0.2, 0.36, 0.86]), np.array([0.2, 0.4, 0.86])
    world = Points(can.copy(), can, goal, 0.86, closed=6, arm="Sawyer")
    action = place(world.state())
    assert action[6] < 0
    assert action[1] > 0.5


@pytest.mark.parametrize("tilt", [0.3, -0.8])
def test_a_tilted_hand_points_down_again(tilt: float) -> None:
    world = cube()
    world.rotation = about(np.array([1.0, 0.5, 0.2]), tilt) @ world.rotation
    world.run(lift, 60)
    assert np.linalg.norm(rotation_vector(POINTING_DOWN @ world.rotation.T)) < 0.05


@pytest.mark.parametrize("turn", [[0.0, 0.0, 0.0], [0.4, -0.2, 0.1], [0.0, 3.1, 0.0], [-1e-12, 0.0, 0.0]])
def test_a_rotation_vector_is_axis_times_angle(turn: list[float]) -> None:
    angle = float(np.linalg.norm(turn))
    rotation = about(np.array(turn), angle) if angle else np.eye(3)
    np.testing.assert_allclose(rotation_vector(rotation), turn, atol=1e-7)


@pytest.mark.parametrize("towards", np.linspace(-np.pi, np.pi, 25))
def test_open_fingers_pass_a_neighbour(towards: float) -> None:
    beside = 0.07 * np.array([-np.sin(towards), np.cos(towards), 0.0])
    yaw = clear_of_neighbour(beside)
    fingers = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    assert abs(fingers @ beside) / 0.07 <= np.cos(ASIDE) + 1e-9
    assert abs(yaw) <= ASIDE + 1e-9
    assert clear_of_neighbour(2 * beside) == 0.0
