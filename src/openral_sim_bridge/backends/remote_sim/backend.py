"""The Backend of worlds that run in another process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_core.types import RobotState
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.sidecar import Sidecar
from openral_sim_bridge.backend import (
    CameraModel,
    Frame,
    RobotModel,
    Snapshot,
    StepResult,
    worlds_to_reset,
    worlds_to_step,
)
from openral_sim_bridge.backends.remote_sim.arm_models import ArmModel
from openral_sim_bridge.backends.remote_sim.command_modes import CONTROL_HZ, OPEN, CommandMode, ExpertAction
from openral_sim_bridge.rendering.renderer import profile

RESET_S = 300.0
"""[s] deadline of a reset, which may build another scene for each world."""
IMAGE_BYTES = 8 << 20
"""[bytes] most image data that one call renders; a message may have twice that."""


class Link(Protocol):
    """The part of a Sidecar that `ArmBackend` needs."""

    def call(
        self, op: str, data: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Send a request to the server and return its reply."""
        ...

    def close(self) -> None:
        """Stop the server."""
        ...


class ArmBackend:
    """N worlds of a server. Success is checked for all tasks of a world's scene; other tasks never succeed."""

    control_hz = CONTROL_HZ

    def __init__(
        self,
        link: Link,
        task_ids: Sequence[str],
        *,
        arm: ArmModel,
        control: CommandMode,
        num_envs: int = 1,
        width: int = 256,
        height: int = 256,
        horizon: int | None = None,
    ) -> None:
        """Reset the worlds of a running server to its first task; `open_worlds` starts a server.

        Args:
            link: to the server.
            task_ids: those that the server was started with.
            arm: of the worlds.
            control: meaning of the actions.
            num_envs: N
            width: [px] of rendered images.
            height: [px] of rendered images.
            horizon: control steps until `done`; None: never.
        """
        self.task_ids = tuple(task_ids)
        self.num_envs = num_envs
        self._link = link
        self._pixels = width * height
        self.action_dim = control.dim
        self._arm, self._control = arm, control
        self._horizon = horizon
        self._worlds: dict[str, NDArray[Any]] = {}
        self.reset([self.task_ids[0]] * num_envs, [0] * num_envs)

    def reset(
        self, task_ids: Sequence[str], init_ids: Sequence[int], envs: Sequence[int] | None = None
    ) -> list[RobotState]:
        """Put worlds into given initial states and return their robot states; see `Backend.reset`."""
        chosen = worlds_to_reset(self.num_envs, task_ids, init_ids, envs)
        request = {"envs": chosen, "tasks": list(task_ids), "init_ids": list(init_ids)}
        self._worlds = self._call("reset", request, timeout_s=RESET_S)
        return [self._state(env) for env in chosen]

    def step(self, actions: NDArray[Any], envs: Sequence[int] | None = None) -> StepResult:
        """Advance worlds (None: all) by one control step with `actions` (n, A) in the scene's action contract.

        Every column of the reward is that of the task which the world was reset to.
        """
        chosen = worlds_to_step(self.num_envs, self.action_dim, actions, envs)
        request = {"actions": np.asarray(actions, dtype=np.float64), "envs": chosen}
        self._worlds = self._call("step", request)
        steps = self._worlds["steps"][chosen]
        done = steps >= self._horizon if self._horizon is not None else np.zeros(len(chosen), dtype=bool)
        states = [self._state(env) for env in chosen]
        # The simulator computes the reward of one task only, the one that the world was reset to.
        reward = np.repeat(self._worlds["reward"][chosen, None], len(self.task_ids), axis=1)
        return StepResult(states, self._worlds["success"][chosen], done, reward)

    def render(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.uint8]]:
        """Return images (n, H, W, 3) uint8 RGB for each camera, of the worlds `envs` (None: all)."""
        return self._drawn("render", 3, cameras, envs)

    def render_depth(
        self, cameras: Sequence[str], envs: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Return depth (n, H, W) float32 [m] along the optical axis for each camera; inf where nothing is drawn."""
        return self._drawn("render_depth", 4, cameras, envs)

    def object_positions(self, env: int = 0) -> dict[str, NDArray[np.float64]]:
        """Return the position (3,) [m] of each object of one world by name; the one that the task moves is first.

        Raises SimulationError if the simulator, or the task, does not report positions.
        """
        found = self._call("object_positions", {"env": env})
        return dict(zip(found["names"], found["positions"], strict=True))

    def move_object(self, name: str, by: NDArray[np.float64], env: int = 0) -> None:
        """Displace an object by a vector (3,) [m] in the world frame and leave it at rest.

        Raises SimulationError if the simulator cannot move objects, or not this one, or its new place is not free.
        """
        self._call("move_object", {"env": env, "name": name, "by": np.asarray(by, np.float64)})

    def hold_action(self, last: NDArray[Any] | None) -> NDArray[np.float64]:
        """Return the action (A,) that keeps the arm in place, given the last executed one (None: there is none).

        It is no displacement, or the present pose of world 0, with the gripper's last command (open if there is none).
        """
        gripper = OPEN if last is None else float(last[-1])
        if self._control.name == "absolute":
            return np.append(self._worlds["hold_pose"][0], gripper)
        return np.append(np.zeros(self.action_dim - 1), gripper)

    def robot(self, name: str, base_frame: str, mesh_directory: Path | None = None) -> RobotModel:
        """Return the kinematic model of the robot; its base pose is that in the present scene of world 0."""
        folder = str(mesh_directory.absolute()) if mesh_directory else None
        found = self._call("robot", {"name": name, "base_frame": base_frame, "mesh_directory": folder})
        return RobotModel(found.pop("urdf"), Frame(**found))

    def joint_positions(self, env: int = 0) -> dict[str, float]:
        """Return the position [rad or m] of each joint of the robot's URDF."""
        positions = self._worlds["joint_positions"][env].tolist()
        return dict(zip((*self._arm.joints, *self._arm.fingers), positions, strict=True))

    def model_xml(self) -> str:
        """Return the present scene's model as MJCF; its meshes and textures are in the simulator's installation."""
        return str(self._call("model", {})["xml"])

    def snapshot(self, env: int = 0) -> Snapshot:
        """Return the present snapshot of one world."""
        return Snapshot(**self._call("snapshot", {"env": env}))

    def restore(self, snapshot: Snapshot, env: int = 0) -> None:
        """Set one world to a snapshot; see `Backend.restore`."""
        self._call("restore", {"env": env, **vars(snapshot)})

    def camera(self, name: str) -> CameraModel:
        """Return the model of one camera. Raises NotFoundError, which lists the existing ones."""
        return CameraModel(**self._call("camera", {"name": name}))

    def advice(self, env: int = 0) -> ExpertAction:
        """Return the action of a scripted expert in one world. Raises SimulationError if its task has none."""
        return ExpertAction(**self._call("advice", {"env": env}))

    def close(self) -> None:
        """Stop the server; call it once."""
        self._link.close()

    def _drawn(
        self, op: str, pixel_bytes: int, cameras: Sequence[str], envs: Sequence[int] | None
    ) -> dict[str, NDArray[Any]]:
        chosen = list(range(self.num_envs)) if envs is None else list(envs)
        at_once = max(1, IMAGE_BYTES // (self._pixels * pixel_bytes * max(1, len(cameras))))
        parts = [
            self._call(op, {"cameras": list(cameras), "envs": chosen[first : first + at_once]})
            for first in range(0, len(chosen), at_once)
        ]
        return {camera: np.concatenate([part[camera] for part in parts]) for camera in cameras}

    def _state(self, env: int) -> RobotState:
        arm, joints = self._arm, self._worlds["joint_positions"][env]
        opening = float(joints[7] - joints[8]) + arm.gap_m
        return RobotState(
            stamp_s=float(self._worlds["steps"][env] / CONTROL_HZ),
            joint_names=(*arm.joints, arm.gripper, *arm.fingers),
            joint_positions=np.concatenate([joints[:7], [opening], joints[7:]]),
            ee_position=self._worlds["ee_position"][env],
            ee_quaternion=self._worlds["ee_quaternion"][env],
            gripper_opening=opening,
        )

    def _call(self, op: str, data: Mapping[str, Any], timeout_s: float | None = None) -> dict[str, Any]:
        """Send a request; a refusal is raised as NotFoundError or SimulationError, as by a backend in this process."""
        try:
            return self._link.call(op, data, timeout_s=timeout_s)
        except SidecarRefused as refusal:
            kind = NotFoundError if refusal.code == "not_found" else SimulationError
            raise kind(refusal.message) from refusal


def open_worlds(
    spec: SidecarSpec,
    task_ids: Sequence[str],
    arguments: Sequence[str] = (),
    *,
    arm: ArmModel,
    control: CommandMode,
    num_envs: int = 1,
    width: int = 256,
    height: int = 256,
    render_profile: str = "published",
    horizon: int | None = None,
    settings: SidecarSettings | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> ArmBackend:
    """Start a process with worlds, and return the backend that uses it.

    Args:
        spec: of the server; its name is the model of the server's identity.
        task_ids: tasks that the worlds can be reset to.
        arguments: of this server, besides those of `worlds_parser`.
        arm: see `ArmBackend`, as for the arguments below.
        control: see `ArmBackend`.
        num_envs: see `ArmBackend`.
        width: see `ArmBackend`.
        height: see `ArmBackend`.
        render_profile: a name in `openral_sim_bridge.rendering.renderer.PROFILES`.
        horizon: see `ArmBackend`.
        settings: for starting the process; None: the default.
        progress: called with one line for each stage while the environment is built.

    Raises:
        NotFoundError: there is no such render profile.
        SidecarError: the process did not start, for instance for an unknown task; the text has the end of its log.
    """
    profile(render_profile)
    words = [
        *arguments,
        "--tasks",
        ",".join(task_ids),
        "--num-envs",
        str(num_envs),
        "--width",
        str(width),
        "--height",
        str(height),
        "--render-profile",
        render_profile,
        "--control",
        control.name,
    ]
    own = settings or SidecarSettings(shared=False, call_timeout_s=60.0)
    sidecar = Sidecar.open(spec, words, Identity(spec.name, tag=control.name), own, progress=progress)
    try:
        return ArmBackend(
            sidecar,
            task_ids,
            arm=arm,
            control=control,
            num_envs=num_envs,
            width=width,
            height=height,
            horizon=horizon,
        )
    except BaseException:
        sidecar.close()
        raise
