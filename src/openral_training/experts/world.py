"""The interface of simulated worlds with scripted experts: true poses, the expert's actions, and observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.types import RobotState
from openral_training.appearance_shift import View


@dataclass(frozen=True)
class TaskJudgement:
    """The simulator's judgement of one task in the current state."""

    success: bool
    hand_to_object: float
    """[m] from the end effector to the task's object; nan where unknown."""
    object_to_target: float
    """[m] from the object to the task's target; nan where unknown."""


class ExpertWorld(Protocol):
    """One world with a scripted expert, which returns an action at every step."""

    task_ids: tuple[str, ...]
    """The tasks that this world can judge."""

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into a fixed initial state. Raises SimulationError as `Backend.reset`."""
        ...

    def begin(self, task_id: str) -> None:
        """Start a new expert of `task_id` in the current state of the world."""
        ...

    def advice(self) -> NDArray[np.float64]:
        """Return the expert's action (A,) in -1..1 for the current state."""
        ...

    def hold(self, advice: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the action (A,) that holds the arm still, with the gripper command of `advice`."""
        ...

    def verdicts(self) -> Mapping[str, TaskJudgement]:
        """Judge every task of this world."""
        ...

    def landmarks(self) -> NDArray[np.float64]:
        """Return (6,) [m, world frame]: positions of object and target of the current task; nan where unknown."""
        ...

    def robot_state(self) -> RobotState:
        """Return the robot's proprioception."""
        ...

    def images(self) -> Mapping[str, NDArray[np.uint8]]:
        """Return (H, W, 3) uint8 RGB by feature key, for each camera of the scene."""
        ...

    def show(self, view: View, rng: np.random.Generator) -> None:
        """Render images in a view until the next call; `rng` draws its random appearance.

        Raises:
            SimulationError: the simulator does not support the view.
        """
        ...

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step with `action` (A,)."""
        ...

    def close(self) -> None:
        """Free renderers and worlds."""
        ...
