"""What backends share whose worlds are in this process: N MuJoCo worlds that differ in state, not in model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from openral_core.types import RobotState
from openral_sim_bridge.backend import Snapshot, worlds_to_reset
from openral_sim_bridge.backends.mujoco_articulation import Articulation, restore_snapshot, take_snapshot
from openral_sim_bridge.rendering.renderer import OffscreenRenderer


class MujocoWorld(Protocol):
    """One world."""

    @property
    def model(self) -> Any:
        """mujoco.MjModel"""
        ...

    @property
    def data(self) -> Any:
        """mujoco.MjData"""
        ...

    def reset(self, task: str, init_id: int) -> None:
        """Put the world into a fixed initial state of a task."""

    def robot_state(self) -> RobotState:
        """Return the robot's state now."""


WorldT = TypeVar("WorldT", bound=MujocoWorld)


class MujocoWorlds(Generic[WorldT]):
    """Initial states, pictures, joints and snapshots; `step` and what a camera is are the backend's own."""

    def __init__(
        self,
        worlds: Sequence[WorldT],
        articulation: Articulation,
        make_renderer: Callable[[], OffscreenRenderer],
    ) -> None:
        """Take the worlds.

        Args:
            worlds: N
            articulation: of the robot, the same in all of them.
            make_renderer: called once, in the thread that asks first for a picture.
        """
        self.num_envs = len(worlds)
        self._worlds = tuple(worlds)
        self._articulation = articulation
        self._make_renderer = make_renderer
        self._renderer: OffscreenRenderer | None = None

    def world(self, env: int) -> WorldT:
        """Return one world, for scripted experts that read its privileged state."""
        return self._worlds[env]

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Put worlds into fixed initial states and return their robot states."""
        chosen = worlds_to_reset(self.num_envs, task_ids, init_ids, envs)
        for env, task, init_id in zip(chosen, task_ids, init_ids, strict=True):
            self._worlds[env].reset(task, init_id)
        return [self._worlds[env].robot_state() for env in chosen]

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return (n, H, W, 3) uint8 RGB for each camera, for the named worlds (default all)."""
        return self._drawn(cameras, envs, self.renderer.render)

    def render_depth(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Return (n, H, W) float32 [m] along the optical axis for each camera; inf where nothing is drawn."""
        return self._drawn(cameras, envs, self.renderer.render_depth)

    def render_geoms(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.int32]]:
        """Return (n, H, W) int32 for each camera: the geom of the model that each pixel shows, -1 for none."""
        return self._drawn(cameras, envs, self.renderer.render_geoms)

    @property
    def renderer(self) -> OffscreenRenderer:
        """Draws every world; made in the thread that asks first."""
        if self._renderer is None:
            self._renderer = self._make_renderer()
        return self._renderer

    def joint_positions(self, env: int = 0) -> dict[str, float]:
        """Return the position [rad] or [m] of every joint that the robot's URDF has."""
        return self._articulation.positions(self._worlds[env].data)

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return what one world looks like now."""
        return take_snapshot(self._worlds[env].data)

    def restore(self, snapshot: Snapshot, env: int = 0) -> None:
        """Make one world look as it did; `reset` to the same task and initial state goes before."""
        restore_snapshot(self._worlds[env].model, self._worlds[env].data, snapshot)

    def close(self) -> None:
        """Free the renderer; called once."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _drawn(
        self, cameras: Sequence[str], envs: Sequence[int] | None, draw: Callable[[Any, str], NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        chosen = range(self.num_envs) if envs is None else envs
        ids = {camera: self._camera_id(camera) for camera in cameras}
        return {
            camera: np.stack(
                [self._upright(ids[camera], draw(self._worlds[env].data, camera)) for env in chosen]
            )
            for camera in cameras
        }

    def _upright(self, camera: int, image: NDArray[Any]) -> NDArray[Any]:
        """Return an image (H, W, ...) as a person would hold the camera."""
        return image

    def _camera_id(self, name: str) -> int:
        """Return the index of a camera in the model. Raises NotFoundError, naming those that exist."""
        raise NotImplementedError
