"""The interface of every simulator for bridge, benchmark and training: worlds that are reset, stepped and rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.types import RobotState


@dataclass(frozen=True)
class StepResult:
    """The result of one control step for the N worlds that were stepped, in the order of their actions."""

    states: list[RobotState]
    """N robot states; `stamp_s` counts from the world's last reset."""
    success: NDArray[np.bool_]
    """(N, K) the simulator's own success signal for each of the backend's `task_ids`."""
    done: NDArray[np.bool_]
    """(N,) the episode reached the horizon of the backend."""
    reward: NDArray[np.float64] | None = None
    """(N, K) the simulator's own reward of this step for each of the backend's `task_ids`, in the simulator's units;
    None: the simulator has no reward."""


WORLD = "world"
"""Name of the root frame of every world."""


@dataclass(frozen=True)
class Frame:
    """Pose of frame `child` in frame `parent`."""

    parent: str
    child: str
    position: NDArray[np.float64]
    """(3,) [m]"""
    quaternion: NDArray[np.float64]
    """(4,) unit quaternion x, y, z, w."""


@dataclass(frozen=True)
class RobotModel:
    """The kinematic model of a world's robot, for publication."""

    urdf: str
    """URDF text; its joints are those of `Backend.joint_positions`."""
    base: Frame
    """Pose of its root link in the world."""


@dataclass(frozen=True)
class Snapshot:
    """The part of a world's state that its images depend on, so that a run can be rendered again."""

    qpos: NDArray[np.float64]
    """(nq,) MuJoCo's generalised positions."""
    mocap_pos: NDArray[np.float64]
    """(3,) [m] position of the first mocap body; nan if there is none."""


@dataclass(frozen=True)
class CameraModel:
    """A pinhole camera fixed to a link. It describes the image that the backend returns, after any flip."""

    name: str
    width: int
    """[px]"""
    height: int
    """[px]"""
    fovy_deg: float
    """[deg] vertical field of view."""
    position: NDArray[np.float64]
    """(3,) [m] in the frame `parent`."""
    rotation: NDArray[np.float64]
    """(3, 3) columns are the axes of the optical frame (x right, y down, z forward) in the frame `parent`."""
    parent: str = WORLD
    """Link to which the camera is fixed."""


class Backend(Protocol):
    """N copies of one simulated scene, stepped together.

    Every `(task_id, init_id)` names one initial state, which is the same to the byte at each reset. Images are upright
    RGB.
    """

    control_hz: float
    """[Hz] rate of `step`."""
    num_envs: int
    """N"""
    action_dim: int
    """A"""
    task_ids: tuple[str, ...]
    """The K tasks whose success the simulator reports."""

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Put worlds into given initial states and return their robot states.

        Args:
            task_ids: task of each world that is reset.
            init_ids: number (>= 0) of the initial state of each of these worlds.
            envs: indices of the worlds that are reset; None: all.

        Raises:
            NotFoundError: a task does not belong to this scene.
            SimulationError: the simulator cannot reset a world.
        """
        ...

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds by one control step; the other worlds do not change.

        Args:
            actions: (n, A) in the scene's action contract, one row for each world that is stepped.
            envs: indices of the worlds that are stepped; None: all.
        """
        ...

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return images (n, H, W, 3) uint8 RGB for each camera, of the worlds `envs` (None: all)."""
        ...

    def render_depth(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Return depth (n, H, W) float32 [m] along the optical axis for each camera, with the pixels of `render`.

        It is inf where nothing is drawn (REP 118). Raises SimulationError if this backend renders no depth.
        """
        ...

    def object_positions(self, env: int = 0) -> Mapping[str, NDArray[np.float64]]:
        """Return the true position (3,) [m] in the world frame of each object of one world, by name.

        It is used only where a deployment asks for it. Raises SimulationError if this backend does not report it.
        """
        ...

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm in place, given the last executed one (None: there is none)."""
        ...

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Return the kinematic model of the robot.

        Args:
            name: of the robot, for its URDF.
            base_frame: a link of the robot, as in robot.yaml.
            mesh_directory: folder to write its meshes to; None: each mesh is replaced by its bounding box.

        Raises:
            SimulationError: the world has no link `base_frame`.
        """
        ...

    def joint_positions(self, env: int = 0) -> Mapping[str, float]:
        """Return the position [rad] or [m] of every joint that the robot's URDF has."""
        ...

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return the present snapshot of one world."""
        ...

    def restore(self, snapshot: Snapshot, env: int = 0) -> None:
        """Set one world to a snapshot, for rendering; call `reset` with its task and initial state first."""
        ...

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera. Raises NotFoundError, which lists the existing cameras."""
        ...

    def close(self) -> None:
        """Free renderers and worlds; call it once."""
        ...


def worlds_to_reset(
    num_envs: int, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None
) -> list[int]:
    """Return the indices of the worlds that `Backend.reset` resets, one for each of its tasks.

    Raises:
        SimulationError: the numbers of worlds, tasks and initial states differ.
    """
    chosen = list(range(num_envs)) if envs is None else list(envs)
    if not len(chosen) == len(task_ids) == len(init_ids):
        raise SimulationError(
            f"reset: {len(chosen)} worlds, {len(task_ids)} tasks, {len(init_ids)} initial states; give one of each"
        )
    return chosen


def worlds_to_step(
    num_envs: int, action_dim: int, actions: NDArray[Any], envs: Sequence[int] | None
) -> list[int]:
    """Return the indices of the worlds that `Backend.step` advances, one for each row of its actions.

    Raises:
        SimulationError: the actions are not of shape (number of those worlds, action_dim).
    """
    chosen = list(range(num_envs)) if envs is None else list(envs)
    if actions.shape != (len(chosen), action_dim):
        raise SimulationError(f"step: actions {actions.shape}, needed ({len(chosen)}, {action_dim})")
    return chosen
