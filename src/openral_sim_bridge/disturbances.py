"""Disturbances of a simulated world: a gripper that opens during a lift, an object that is pushed away.

A disturbance acts between the executor and the simulator (`SimulatedArm`). Nothing above it is notified, so its effect
must be detected from images, states and the reward monitor, as in the real world. Each occurs once per episode,
triggered by the state of the world and not by the clock, so that it affects slow and fast policies alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError, UsageError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.stop_conditions import FingerTravel, commands_closing, moves_fingers
from openral_core.types import RobotState

LIFT_M = 0.05
"""[m] height gained by the hand since the fingers were commanded to close, at which `GraspOpened` acts."""
OPEN_S = 0.5
"""[s] for which `GraspOpened` keeps the fingers open, whatever the action commands."""
NEAR_M = 0.1
"""[m] horizontal distance between hand and object at which `ObjectPushed` acts."""
PUSH_M = (0.05, 0.08)
"""[m] smallest and largest distance by which `ObjectPushed` moves the object."""
PUSH_WAYS = 4
"""Number of directions, 90 degrees apart, that `ObjectPushed` tries in turn, since some may be obstructed."""


class Disturbance(Protocol):
    """A fault of a world that occurs at most once between two resets. Used from the world's thread."""

    done: str
    """Description of its effect, with the numbers; empty: it has not occurred yet."""

    def begin(self) -> None:
        """Start over after a reset of the world."""
        ...

    def act(self, state: RobotState, action: NDArray[Any]) -> NDArray[Any]:
        """Act if the trigger is met, and return the action (A,) to be executed in place of `action` (A,).

        Args:
            state: of the robot before the control step.
            action: from the executor, in the scene's action contract.
        """
        ...


class MovableThings(Protocol):
    """The part of a backend that `ObjectPushed` needs."""

    def object_positions(self, env: int = 0) -> Mapping[str, NDArray[np.float64]]:
        """Return the position (3,) [m] in the world frame of each object of one world, by name."""
        ...

    def move_object(self, name: str, by: NDArray[np.float64], env: int = 0) -> None:
        """Displace an object by a vector (3,) [m] in the world frame and leave it at rest.

        Raises SimulationError if no object of that name can be moved, or its new place is not free.
        """
        ...


class GraspOpened:
    """Opens the gripper during a lift, once the hand has risen with an object between its fingers.

    Unlike the stop condition `lifted` it does not wait for the fingers to come to rest, since a hand that lifts an
    object fast would be at its goal before.
    """

    def __init__(self, scene: DeployScene, robot: RobotDescription) -> None:
        """Take the scene's actions and the robot's fingers.

        Raises:
            SimulationError: the scene's actions have no gripper.
        """
        if not moves_fingers(scene.action.representation):
            raise SimulationError(
                f"open_in_lift: actions of {scene.action.representation} have no gripper to open; choose another"
            )
        self._representation = scene.action.representation
        self._opened = float(scene.action.low[-1])
        self._steps = max(1, round(OPEN_S * scene.control_hz))
        self._fingers = FingerTravel.of(robot)
        self.begin()

    def begin(self) -> None:
        """Start over after a reset of the world."""
        self.done = ""
        self._left = 0
        self._lowest: float | None = None
        """[m] least height of the hand since the fingers were commanded to close; None: they are not commanded to."""

    def act(self, state: RobotState, action: NDArray[Any]) -> NDArray[Any]:
        """Open the fingers for `OPEN_S`, once the hand has risen by `LIFT_M`."""
        height, between = float(state.ee_position[2]), self._fingers.is_between(state.gripper_opening)
        if not commands_closing(action, self._representation):
            self._lowest = None
        else:
            self._lowest = height if self._lowest is None else min(self._lowest, height)
            risen = height - self._lowest
            if not self.done and between and risen >= LIFT_M:
                apart = f"{state.gripper_opening:.3f} m apart"
                self.done = f"the gripper was opened {risen:.3f} m up, with the fingers {apart}"
                self._left = self._steps
        if self._left == 0:
            return action
        self._left -= 1
        opened = np.array(action, copy=True)
        opened[-1] = self._opened
        return opened


class ObjectPushed:
    """Pushes an object away when the hand first comes near it.

    A seed decides the distance and the `PUSH_WAYS` directions, of which the first unobstructed one is taken.
    """

    def __init__(self, world: MovableThings, thing: str, seed: int) -> None:
        """Take the world and the name of one of its objects."""
        self._world, self._thing, self._seed = world, thing, seed
        self.begin()

    def begin(self) -> None:
        """Start over after a reset of the world."""
        self.done = ""
        rng = np.random.default_rng(self._seed)
        angle, far = rng.uniform(-np.pi, np.pi), rng.uniform(*PUSH_M)
        ways = angle + np.pi / 2 * np.arange(PUSH_WAYS)
        self._ways = [far * np.array([np.cos(way), np.sin(way), 0.0]) for way in ways]

    def act(self, state: RobotState, action: NDArray[Any]) -> NDArray[Any]:
        """Move the object once the hand is within `NEAR_M` of it.

        Raises:
            SimulationError: the world has no such object, or it cannot be moved in any of the directions.
        """
        if self.done:
            return action
        there = self._world.object_positions().get(self._thing)
        if there is None:
            raise SimulationError(f"push_away: the world has no {self._thing}; choose another disturbance")
        if float(np.linalg.norm((there - state.ee_position)[:2])) <= NEAR_M:
            by = self._push()
            self.done = f"the {self._thing} was moved by ({by[0]:+.3f}, {by[1]:+.3f}) m"
        return action

    def _push(self) -> NDArray[Any]:
        """Move the object, and return its displacement (3,) [m]. Raises SimulationError if no direction is possible."""
        fault: SimulationError | None = None
        for by in self._ways:
            try:
                self._world.move_object(self._thing, by)
                return by
            except SimulationError as error:
                fault = fault or error
        assert fault is not None, "there is at least one direction"
        raise fault


def _open_in_lift(scene: DeployScene, robot: RobotDescription, world: Any, seed: int) -> Disturbance:
    return GraspOpened(scene, robot)


def _push_away(scene: DeployScene, robot: RobotDescription, world: Any, seed: int) -> Disturbance:
    if not hasattr(world, "move_object"):
        raise SimulationError("push_away: this simulator cannot move things; choose another disturbance")
    things = list(world.object_positions())
    if not things:
        raise SimulationError("push_away: there is nothing in this world; choose another disturbance")
    return ObjectPushed(world, things[0], seed)


DISTURBANCES: Mapping[str, Callable[[DeployScene, RobotDescription, Any, int], Disturbance]] = {
    "open_in_lift": _open_in_lift,
    "push_away": _push_away,
}
"""Name -> function that makes the disturbance from the scene, the robot, the backend and a seed."""


def make_disturbance(
    name: str, scene: DeployScene, robot: RobotDescription, world: object, seed: int = 0
) -> Disturbance:
    """Return a disturbance by its name.

    Args:
        name: one of `DISTURBANCES`.
        scene: of the world.
        robot: of the scene.
        world: the backend, reset at least once.
        seed: of the disturbance's random numbers.

    Raises:
        UsageError: there is no such disturbance; the text lists the existing ones.
        SimulationError: the scene or its simulator does not allow this disturbance.
    """
    require_disturbance(name)
    return DISTURBANCES[name](scene, robot, world, seed)


def require_disturbance(name: str) -> None:
    """Raise UsageError, which lists the existing disturbances, unless there is one of that name."""
    if name not in DISTURBANCES:
        raise UsageError(f"there is no disturbance '{name}'; there are {', '.join(DISTURBANCES)}")
