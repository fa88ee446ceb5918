"""What every simulator offers to bridge, benchmark and training: worlds that can be reset, stepped and seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.types import RobotState


@dataclass(frozen=True)
class StepResult:
    """What N worlds look like after one control step."""

    states: list[RobotState]
    """N robot states; `stamp_s` counts from the world's last reset."""
    success: NDArray[np.bool_]
    """(N, K) the simulator's own success signal for each of the backend's `task_ids`."""
    done: NDArray[np.bool_]
    """(N,) the episode reached the horizon of the backend."""


@dataclass(frozen=True)
class CameraModel:
    """A pinhole camera fixed in the world, for the image as the backend returns it (after any flip)."""

    name: str
    width: int
    """[px]"""
    height: int
    """[px]"""
    fovy_deg: float
    """[deg] vertical field of view."""
    position: NDArray[np.float64]
    """(3,) [m] in the world frame."""
    rotation: NDArray[np.float64]
    """(3, 3) columns are the axes of the optical frame (x right, y down, z forward) in the world frame."""


class Backend(Protocol):
    """N copies of one simulated scene, stepped together.

    Every `(task_id, init_id)` names one initial state, repeatable to the byte. Images are upright RGB.
    """

    control_hz: float
    """[Hz] rate of `step`."""
    num_envs: int
    """N"""
    action_dim: int
    """A"""
    task_ids: tuple[str, ...]
    """The K tasks whose success this scene can judge."""

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Put worlds into fixed initial states and return their robot states.

        Args:
            task_ids: one task for each world that is reset.
            init_ids: one initial state for each of them, >= 0.
            envs: which worlds, default all.

        Raises:
            NotFoundError: a task is not of this scene.
            SimulationError: the simulator refused.
        """
        ...

    def step(self, actions: NDArray[Any]) -> StepResult:
        """Advance every world by one control step with `actions` (N, A) in the scene's action contract."""
        ...

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return (n, H, W, 3) uint8 RGB for each camera, for the named worlds (default all)."""
        ...

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm where it is, given the last one executed."""
        ...

    def physics(self, env: int = 0) -> tuple[Any, Any]:
        """Return `(mujoco.MjModel, mujoco.MjData)` of one world, to be read only."""
        ...

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera. Raises NotFoundError, naming those that exist."""
        ...

    def close(self) -> None:
        """Free renderers and worlds; called once."""
        ...
