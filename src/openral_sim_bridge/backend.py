"""What every simulator offers to bridge, benchmark and training: worlds that can be reset, stepped and seen."""

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
    """What the N worlds that were stepped look like after one control step, in the order of the actions."""

    states: list[RobotState]
    """N robot states; `stamp_s` counts from the world's last reset."""
    success: NDArray[np.bool_]
    """(N, K) the simulator's own success signal for each of the backend's `task_ids`."""
    done: NDArray[np.bool_]
    """(N,) the episode reached the horizon of the backend."""
    reward: NDArray[np.float64] | None = None
    """(N, K) the simulator's own reward of this step for each of the backend's `task_ids`, in the simulator's units;
    None: it has none."""


WORLD = "world"
"""Name of the frame in which worlds are described."""


@dataclass(frozen=True)
class Frame:
    """Where frame `child` lies in frame `parent`."""

    parent: str
    child: str
    position: NDArray[np.float64]
    """(3,) [m]"""
    quaternion: NDArray[np.float64]
    """(4,) x, y, z, w"""


@dataclass(frozen=True)
class RobotModel:
    """The robot of a world as others know it."""

    urdf: str
    """URDF text; its joints are those of `Backend.joint_positions`."""
    base: Frame
    """Where its root link stands in the world."""


@dataclass(frozen=True)
class Snapshot:
    """All that a picture of a world depends on, so that a run can be drawn again."""

    qpos: NDArray[np.float64]
    """(nq,) MuJoCo's generalised positions."""
    mocap_pos: NDArray[np.float64]
    """(3,) [m] of the first mocap body; nan where there is none."""


@dataclass(frozen=True)
class CameraModel:
    """A pinhole camera fixed to a link, for the image as the backend returns it (after any flip)."""

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
    """Link that carries it."""


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

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds by one control step; the others stand still.

        Args:
            actions: (n, A) in the scene's action contract, one row for each world that is stepped.
            envs: which worlds, default all.
        """
        ...

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return (n, H, W, 3) uint8 RGB for each camera, for the named worlds (default all)."""
        ...

    def render_depth(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Return (n, H, W) float32 [m] along the optical axis for each camera, pixel by pixel beside `render`.

        inf where nothing is drawn (REP 118). Raises SimulationError: this backend draws no depth.
        """
        ...

    def object_positions(self, env: int = 0) -> Mapping[str, NDArray[np.float64]]:
        """Return where the simulator has the things of one world, (3,) [m] by name.

        Nobody acts on it unless a deployment says so. Raises SimulationError: this backend does not say.
        """
        ...

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm where it is, given the last one executed."""
        ...

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Describe the robot.

        Args:
            name: of the robot, for its URDF.
            base_frame: a link of it, as in robot.yaml.
            mesh_directory: where its meshes are written; None: each is shown as its bounding box.

        Raises:
            SimulationError: the world has no such link.
        """
        ...

    def joint_positions(self, env: int = 0) -> Mapping[str, float]:
        """Return the position [rad] or [m] of every joint that the robot's URDF has."""
        ...

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return what one world looks like now."""
        ...

    def restore(self, snapshot: Snapshot, env: int = 0) -> None:
        """Make one world look as it did; `reset` to the same task and initial state goes before."""
        ...

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera. Raises NotFoundError, naming those that exist."""
        ...

    def close(self) -> None:
        """Free renderers and worlds; called once."""
        ...


def worlds_to_reset(
    num_envs: int, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None
) -> list[int]:
    """Return the worlds that a `Backend.reset` is about, one for each of its tasks.

    Raises:
        SimulationError: they are not as many as the tasks and the initial states.
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
    """Return the worlds that a `Backend.step` is about, one for each row of its actions.

    Raises:
        SimulationError: the actions are not of shape (number of those worlds, action_dim).
    """
    chosen = list(range(num_envs)) if envs is None else list(envs)
    if actions.shape != (len(chosen), action_dim):
        raise SimulationError(f"step: actions {actions.shape}, needed ({len(chosen)}, {action_dim})")
    return chosen
