"""The request handlers of a server of worlds, for any simulator."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, OpenralError, SimulationError
from openral_sidecar.errors import SidecarRefused
from openral_sim_bridge.backend import WORLD, Snapshot
from openral_sim_bridge.backends.mujoco_articulation import Articulation, restore_snapshot, take_snapshot
from openral_sim_bridge.backends.mujoco_warnings import log_warnings
from openral_sim_bridge.backends.remote_sim.arm_models import ROOT_BODY, ArmModel
from openral_sim_bridge.backends.remote_sim.command_modes import CommandMode, ExpertAction
from openral_sim_bridge.backends.remote_sim.urdf_renaming import COLLISION_GROUP, named
from openral_sim_bridge.rendering.renderer import OffscreenRenderer, profile

Handler = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class WorldState:
    """The state of a world's robot."""

    joint_positions: NDArray[np.float64]
    """(9,) seven joints of the arm [rad], two of the fingers [m]."""
    ee_position: NDArray[np.float64]
    """(3,) [m] in the world frame."""
    ee_quaternion: NDArray[np.float64]
    """(4,) x, y, z, w, with the simulator's sign, on which the axis-angle in LIBERO's data depends."""
    hold_pose: NDArray[np.float64]
    """(6,) position [m] and axis times angle [rad]: the absolute command that keeps the arm in place;
    zeros if the simulator takes displacements only."""


class RemoteWorld(Protocol):
    """One world of a server."""

    arm: ArmModel
    """Its arm, which is the same in all worlds of a server."""
    control: CommandMode
    """The meaning of its actions, which is the same in all worlds of a server."""
    steps: int
    """Control steps since the last reset."""
    reward: float
    """The simulator's own reward of the last step, for the task that the world was reset to."""

    @property
    def scene(self) -> str:
        """Identifier of the scene; worlds with the same identifier have the same model."""
        ...

    @property
    def model(self) -> Any:
        """mujoco.MjModel"""
        ...

    @property
    def data(self) -> Any:
        """mujoco.MjData"""
        ...

    def reset(self, task_id: str, init_id: int) -> None:
        """Put the world into an initial state."""
        ...

    def step(self, action: NDArray[Any]) -> None:
        """Advance by one control step with an action (A,), see `control`."""
        ...

    def state(self) -> WorldState:
        """Return the robot's state."""
        ...

    def judge(self) -> list[bool]:
        """Return for each task whether it is done."""
        ...

    def advice(self) -> ExpertAction:
        """Return the action of a scripted expert. Raises SimulationError if the present task has none."""
        ...

    def object_positions(self) -> dict[str, NDArray[np.float64]]:
        """Return the position (3,) [m] of each object by name. Raises SimulationError if they are not reported."""
        ...

    def move_object(self, name: str, by: NDArray[np.float64]) -> None:
        """Displace an object by (3,) [m] and leave it at rest. Raises SimulationError if that is not possible."""
        ...


class WorldService:
    """The server's request handlers. Refusals have the code not_found, simulation or malformed."""

    def __init__(
        self, worlds: Sequence[RemoteWorld], *, width: int, height: int, render_profile: str
    ) -> None:
        """Take the worlds, the image size [px], and a profile's name in `openral_sim_bridge.rendering.renderer`."""
        log_warnings()
        self._worlds = list(worlds)
        self._size = (width, height)
        # robosuite hides its markers by their colours, and LIBERO shows a burning stove by a marker.
        self._look = replace(profile(render_profile), markers=True)
        self._renderers: dict[str, OffscreenRenderer] = {}
        self._was_reset = [False] * len(self._worlds)

    def handlers(self) -> dict[str, Handler]:
        """Return the handler of each operation by its name."""
        operations: dict[str, Handler] = {
            "reset": self.reset,
            "step": self.step,
            "render": self.render,
            "render_depth": self.render_depth,
            "robot": self.robot,
            "camera": self.camera,
            "model": self.model,
            "snapshot": self.snapshot,
            "restore": self.restore,
            "advice": self.advice,
            "object_positions": self.object_positions,
            "move_object": self.move_object,
        }
        return {name: _refusing(operation) for name, operation in operations.items()}

    def reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {envs, tasks, init_ids}: reset worlds and return the state of all worlds."""
        for env, task, init_id in zip(data["envs"], data["tasks"], data["init_ids"], strict=True):
            self._world(env).reset(str(task), int(init_id))
            self._was_reset[env] = True
        return self._reply()

    def step(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {actions (n, A), envs}: step worlds that have been reset, and return the state of all worlds."""
        actions = np.asarray(data["actions"], dtype=np.float64)
        worlds = {env: self._world(env) for env in data["envs"]}
        needed = (len(worlds), self._worlds[0].control.dim)
        if actions.shape != needed:
            raise ValueError(f"actions {actions.shape}, needed {needed}")
        # A restarted server does not have the worlds of its predecessor.
        if not all(self._was_reset[env] for env in worlds):
            raise SimulationError(
                "the simulator's process began anew and its worlds were lost; reset all of them"
            )
        for world, action in zip(worlds.values(), actions, strict=True):
            world.step(action)
        return self._reply()

    def render(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {cameras, envs}: return {camera: (n, H, W, 3) uint8 RGB}."""
        return self._drawn(data, OffscreenRenderer.render)

    def render_depth(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {cameras, envs}: return {camera: depth (n, H, W) float32 [m]}."""
        return self._drawn(data, OffscreenRenderer.render_depth)

    def robot(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {name, base_frame, mesh_directory or None}: return {urdf, parent, child, position, quaternion}.

        The pose is that of the base in world 0.
        """
        world, directory = self._worlds[0], data["mesh_directory"]
        articulation = Articulation(world.model, ROOT_BODY, hidden_groups=(COLLISION_GROUP,))
        folder = Path(directory) if directory else None
        found = articulation.describe(world.data, str(data["name"]), ROOT_BODY, folder)
        robot = named(found, world.arm, str(data["base_frame"]))
        return {"urdf": robot.urdf, **vars(robot.base)}

    def camera(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {name}: return the fields of CameraModel, for world 0."""
        world = self._worlds[0]
        index = self._camera_id(world, str(data["name"]))
        model, body = world.model, int(world.model.cam_bodyid[index])
        position, rotation = world.data.cam_xpos[index].copy(), world.data.cam_xmat[index].reshape(3, 3)
        parent = WORLD
        if model.body_rootid[body] == model.body(ROOT_BODY).id:
            link = model.body(body).name
            parent, position, rotation = (
                world.arm.names.get(link, link),
                model.cam_pos[index].copy(),
                np.zeros(9),
            )
            mujoco.mju_quat2Mat(rotation, model.cam_quat[index])
        # MuJoCo's cameras look along -z with y up; the optical frame has z forward and y down.
        optical = rotation.reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        return {
            "name": data["name"],
            "width": self._size[0],
            "height": self._size[1],
            "fovy_deg": float(model.cam_fovy[index]),
            "position": position,
            "rotation": optical,
            "parent": parent,
        }

    def model(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {}: return {xml}, the model of world 0 (MuJoCo must have loaded it last) as MJCF.

        Meshes and textures are referred to by their paths in the simulator's installation.
        """
        with tempfile.NamedTemporaryFile(suffix=".xml") as file:
            mujoco.mj_saveLastXML(file.name, self._worlds[0].model)
            return {"xml": Path(file.name).read_text(encoding="utf-8")}

    def snapshot(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {env}: return {qpos, mocap_pos}."""
        return vars(take_snapshot(self._world(data["env"]).data))

    def restore(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {env, qpos, mocap_pos}: restore a snapshot and return {}."""
        world = self._world(data["env"])
        if np.shape(data["qpos"]) != world.data.qpos.shape:
            raise ValueError(f"qpos {np.shape(data['qpos'])}, this world has {world.data.qpos.shape}")
        restore_snapshot(world.model, world.data, Snapshot(data["qpos"], data["mocap_pos"]))
        return {}

    def advice(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {env}: return the fields of ExpertAction."""
        return vars(self._world(data["env"]).advice())

    def object_positions(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {env}: return {names, positions (n, 3) [m]}."""
        found = self._world(data["env"]).object_positions()
        return {"names": list(found), "positions": np.array(list(found.values())).reshape(-1, 3)}

    def move_object(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Handle {env, name, by (3,) [m]}: displace an object and return {}."""
        self._world(data["env"]).move_object(str(data["name"]), np.asarray(data["by"], np.float64).reshape(3))
        return {}

    def close(self) -> None:
        """Free the renderers."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()

    def _world(self, env: int) -> RemoteWorld:
        if not 0 <= env < len(self._worlds):
            raise ValueError(f"there is no world {env}; there are {len(self._worlds)}")
        return self._worlds[env]

    def _reply(self) -> dict[str, Any]:
        states = [world.state() for world in self._worlds]
        names = ("joint_positions", "ee_position", "ee_quaternion", "hold_pose")
        return {
            **{name: np.stack([getattr(state, name) for state in states]) for name in names},
            "success": np.array([world.judge() for world in self._worlds], dtype=bool),
            "reward": np.array([world.reward for world in self._worlds], dtype=np.float64),
            "steps": np.array([world.steps for world in self._worlds], dtype=np.int64),
        }

    def _drawn(
        self, data: Mapping[str, Any], draw: Callable[[OffscreenRenderer, Any, str], NDArray[Any]]
    ) -> dict[str, Any]:
        worlds = [self._world(env) for env in data["envs"]]
        self._forget_old_scenes()
        return {
            camera: np.stack([draw(self._renderer(world, camera), world.data, camera) for world in worlds])
            for camera in data["cameras"]
        }

    def _renderer(self, world: RemoteWorld, camera: str) -> OffscreenRenderer:
        """Return the renderer of a world's scene, with the present colours of the world's sites."""
        self._camera_id(world, camera)
        if world.scene not in self._renderers:
            self._renderers[world.scene] = OffscreenRenderer(
                world.model, *self._size, self._look, hidden_groups=(COLLISION_GROUP,)
            )
        renderer = self._renderers[world.scene]
        renderer.model.site_rgba[:] = world.model.site_rgba
        return renderer

    def _forget_old_scenes(self) -> None:
        for scene in set(self._renderers) - {world.scene for world in self._worlds}:
            self._renderers.pop(scene).close()

    def _camera_id(self, world: RemoteWorld, name: str) -> int:
        index: int = mujoco.mj_name2id(world.model, mujoco.mjtObj.mjOBJ_CAMERA, name)
        if index < 0:
            names = ", ".join(world.model.camera(i).name for i in range(world.model.ncam))
            raise NotFoundError(f"the simulator has no camera '{name}'; it has {names}")
        return index


def _refusing(operation: Handler) -> Handler:
    """Return a handler that converts the operation's errors to refusals with codes, which the client converts back."""

    @functools.wraps(operation)
    def handler(data: dict[str, Any]) -> dict[str, Any]:
        try:
            return operation(data)
        except NotFoundError as error:
            raise SidecarRefused("not_found", str(error)) from error
        except OpenralError as error:
            raise SidecarRefused("simulation", str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise SidecarRefused("malformed", f"{type(error).__name__}: {error}") from error

    return handler
