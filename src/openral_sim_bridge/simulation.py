"""The simulation of a scene: backend, executor, control loop and recorder, owned by one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_control.chunk_executor import ChunkExecutor
from openral_control.control_loop import ControlLoop, LoopSettings, Mode, Sink
from openral_control.control_thread import ControlRun
from openral_control.envelope import Envelope
from openral_core.errors import ContractError, SimulationError
from openral_core.files.user_path import user_path
from openral_core.message_field_checks import text_field
from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_sim_bridge.backend import Backend, CameraModel, Frame
from openral_sim_bridge.coordinate_frames import LinkFrames
from openral_sim_bridge.disturbances import make_disturbance
from openral_sim_bridge.simulated_arm import SimulatedArm, WorldRecorder
from openral_sim_bridge.truth_recorder import TruthRecorder

MAX_TASK = 128
"""Most characters in the name of a task."""
MAX_SEED = 2**31 - 1
"""Greatest number of an initial state that can be requested."""
SAME = 1e-6
"""[m, deg] by which a frame or a lens may differ and count as the same, which is rounding."""


def read_reset(message: Any) -> tuple[str, int]:
    """Return task and initial state that a request of `openral/srv/ResetScene` names.

    An empty task and the initial state -1 stand for those that the bridge was started with.

    Raises:
        ContractError: the task's name is too long or malformed, or the number of the initial state is too great.
    """
    seed = int(message.seed)
    if seed > MAX_SEED:
        raise ContractError(f"seed is {seed}; send at most {MAX_SEED}, or -1 for the scene's own")
    return text_field("task", message.task, MAX_TASK), max(seed, -1)


@dataclass(frozen=True)
class ResetDone:
    """The result of a reset."""

    task: str
    init_id: int
    stamp_s: float
    """[s] stamp of the first observation of the new world."""


@dataclass(frozen=True)
class BridgeOptions:
    """Parameters of the bridge."""

    scene: str
    """Name or path of a scene file."""
    run_dir: str = ""
    """Folder for `truth.npz`; empty: nothing is written."""
    mode: Mode = "realtime"
    real_time_factor: float = 1.0
    """Simulation seconds per wall second; 0: as fast as possible."""
    task: str = ""
    """Task whose initial state the world starts in; empty: the scene's first."""
    init_id: int = -1
    """Number of the initial state; negative: the scene's own."""
    sim_positions: bool = False
    """Whether the simulator's own object positions are published, for a locator that is configured to use them."""
    disturbance: str = ""
    """Name of a disturbance in `openral_sim_bridge.disturbances`; empty: none."""


class Simulation(ControlRun):
    """Owns a world.

    Construct it and call `live` in one thread, the control thread; each other method names the thread that it is for.
    """

    def __init__(self, options: BridgeOptions, sink: Sink, backend_factory: Callable[..., Backend]) -> None:
        """Build the world.

        Raises:
            OpenralError: the scene is wrong, or its simulator cannot be built.
        """
        if options.mode not in ("realtime", "lockstep"):
            raise SimulationError(f"mode: '{options.mode}' is not one of realtime, lockstep")
        self.options = options
        scene: DeployScene = load_scene(options.scene)
        robot = load_robot(scene.robot_id)
        backend = backend_factory(scene)
        if abs(backend.control_hz - scene.control_hz) > 1e-6 * backend.control_hz:
            raise SimulationError(
                f"control_hz: {scene.control_hz:g} in the scene, {backend.control_hz:g} in its simulator"
            )
        self._backend = backend
        executor = ChunkExecutor(
            backend.control_hz,
            Envelope(scene, robot),
            backend.hold_action,
            representation=scene.action.representation,
            catch_up=CatchUp(scene.action),
        )
        self._arm = SimulatedArm(backend)
        run_dir = user_path(options.run_dir).absolute() if options.run_dir else None
        self._recorder = TruthRecorder(run_dir, backend.task_ids, backend.control_hz) if run_dir else None
        record = WorldRecorder(self._arm, backend, self._recorder) if self._recorder else None
        self._task = options.task or backend.task_ids[0]
        self._init_id = options.init_id if options.init_id >= 0 else scene.init_id
        state = self._arm.reset(self._task, self._init_id)
        if options.disturbance:
            seed = self._init_id
            self._arm.disturbance = make_disturbance(options.disturbance, scene, robot, backend, seed)
        settings = _loop_settings(options, scene)
        loop = ControlLoop(self._arm, executor, sink, settings, state, record)
        super().__init__(scene, executor, loop, settings)
        meshes = run_dir / "meshes" if run_dir else None
        self._description = robot
        self.robot = backend.robot(robot.name, robot.base_frame, meshes)
        self.links = LinkFrames(self.robot)
        self.cameras = [backend.camera(camera.name) for camera in scene.cameras]
        self._looked_at = self._task
        """Task in whose world robot and cameras were looked at last."""

    def reset(self, task: str, init_id: int) -> ResetDone:
        """Put the world into an initial state; call it from any other thread.

        Args:
            task: of the scene; empty: the one that the simulation started in.
            init_id: initial state; negative: the one that the simulation started in.

        Raises:
            OpenralError: the world cannot be reset, or the control thread is busy or has ended.
        """
        task = task or self._task
        init_id = init_id if init_id >= 0 else self._init_id
        return ResetDone(task, init_id, self.loop.interrupt(lambda: self._arm.reset(task, init_id)))

    def is_elsewhere(self) -> bool:
        """Return whether the robot or a camera stands elsewhere since a reset, as in the world of another task.

        `robot`, `links` and `cameras` are then those of the present world. Call it from the control thread.
        """
        if self._arm.task == self._looked_at:
            return False
        self._looked_at = self._arm.task
        base = self._backend.robot(self._description.name, self._description.base_frame).base
        cameras = [self._backend.camera(camera.name) for camera in self.cameras]
        before, now = ([*_numbers(*found)] for found in ((self.robot.base, self.cameras), (base, cameras)))
        self.robot, self.cameras = replace(self.robot, base=base), cameras
        self.links = LinkFrames(self.robot)
        return not np.allclose(before, now, rtol=0.0, atol=SAME)

    def joint_positions(self) -> Mapping[str, float]:
        """Return the present position [rad or m] of each joint of the URDF; call it from the control thread."""
        return self._backend.joint_positions()

    def depth_images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the present depth image (H, W) float32 [m] of each camera; call it from the control thread."""
        return self._arm.depth_images(cameras)

    def object_positions(self) -> Mapping[str, NDArray[np.float64]]:
        """Return the position (3,) [m] in the world frame of each object by name; call it from the control thread."""
        return self._backend.object_positions()

    def describe(self) -> str:
        """Return one line that names simulator, control rate, mode, task and initial state."""
        options = self.options
        pace = f"x{options.real_time_factor:g}" if options.real_time_factor else "unpaced"
        how = options.mode if options.mode == "lockstep" else f"{options.mode} {pace}"
        return (
            f"{self.scene.scene.backend_options.get('family')} at {self.scene.control_hz:g} Hz, {how}: "
            f"{self._task}, initial state {self._init_id}"
        )

    def _close(self) -> None:
        """Write the record and close the world."""
        if self._recorder is not None:
            self._recorder.close()
        self._backend.close()


def _numbers(base: Frame, cameras: Sequence[CameraModel]) -> Iterator[float]:
    """Yield the numbers that say where the robot and the cameras stand [m], and what the lenses are [deg]."""
    yield from (*base.position, *base.quaternion)
    for camera in cameras:
        yield from (*camera.position, *camera.rotation.flatten(), camera.fovy_deg)


def _loop_settings(options: BridgeOptions, scene: DeployScene) -> LoopSettings:
    return LoopSettings(
        camera_periods={
            camera.name: round(scene.control_hz / camera.rate_hz) for camera in scene.scene.cameras
        },
        mode=options.mode,
        real_time_factor=options.real_time_factor,
    )
