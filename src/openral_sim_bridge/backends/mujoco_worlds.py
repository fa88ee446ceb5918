"""The common part of backends whose worlds are in this process: N MuJoCo worlds of the same model."""

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
        """Put the world into a numbered initial state of a task."""

    def robot_state(self) -> RobotState:
        """Return the robot's present state."""


WorldT = TypeVar("WorldT", bound=MujocoWorld)


class MujocoWorlds(Generic[WorldT]):
    """Implements reset, rendering, joint positions and snapshots of `Backend`; subclasses add `step` and cameras."""

    def __init__(
        self,
        worlds: Sequence[WorldT],
        articulation: Articulation,
        make_renderer: Callable[[], OffscreenRenderer],
    ) -> None:
        """Take the worlds.

        Args:
            worlds: N
            articulation: of the robot, the same in all worlds.
            make_renderer: called once, in the thread that first renders.
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
        """Put worlds into given initial states and return their robot states; see `Backend.reset`."""
        chosen = worlds_to_reset(self.num_envs, task_ids, init_ids, envs)
        for env, task, init_id in zip(chosen, task_ids, init_ids, strict=True):
            self._worlds[env].reset(task, init_id)
        return [self._worlds[env].robot_state() for env in chosen]

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return images (n, H, W, 3) uint8 RGB for each camera, of the worlds `envs` (None: all)."""
        return self._drawn(cameras, envs, self.renderer.render)

    def render_depth(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Return depth (n, H, W) float32 [m] along the optical axis for each camera; inf where nothing is drawn."""
        return self._drawn(cameras, envs, self.renderer.render_depth)

    def render_geoms(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.int32]]:
        """Return (n, H, W) int32 for each camera: the id of the geom that each pixel shows, -1 for none."""
        return self._drawn(cameras, envs, self.renderer.render_geoms)

    @property
    def renderer(self) -> OffscreenRenderer:
        """The renderer of all worlds; it is made in the thread that first uses it."""
        if self._renderer is None:
            self._renderer = self._make_renderer()
        return self._renderer

    def joint_positions(self, env: int = 0) -> dict[str, float]:
        """Return the position [rad or m] of each joint of the robot's URDF."""
        return self._articulation.positions(self._worlds[env].data)

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return the present snapshot of one world."""
        return take_snapshot(self._worlds[env].data)

    def restore(self, snapshot: Snapshot, env: int = 0) -> None:
        """Set one world to a snapshot; see `Backend.restore`."""
        restore_snapshot(self._worlds[env].model, self._worlds[env].data, snapshot)

    def close(self) -> None:
        """Free the renderer; call it once."""
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
        """Return an image (H, W, ...) of a camera the right way up; it is unchanged here."""
        return image

    def _camera_id(self, name: str) -> int:
        """Return the id of a camera in the model. Raises NotFoundError, which lists the existing ones."""
        raise NotImplementedError
