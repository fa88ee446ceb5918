"""A backend's world as the arm of the control loop, and the recording of its control steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.disturbances import Disturbance
from openral_sim_bridge.rendering.render_cache import StillPictures
from openral_sim_bridge.truth_recorder import TruthRecorder


class SimulatedArm:
    """Adapts a backend with one world to the arm of `openral_control.control_loop`."""

    def __init__(self, backend: Backend) -> None:
        """Take a backend with one world."""
        self._backend = backend
        self._pictures = StillPictures(backend, backend.render)
        self._depths = StillPictures(backend, backend.render_depth)
        self.control_hz = backend.control_hz
        self.task, self.init_id = "", 0
        """Task and initial state of the last reset."""
        self.success = np.zeros(len(backend.task_ids), np.bool_)
        """(K,) the simulator's own success signal after the last step."""
        self.disturbance: Disturbance | None = None
        """The disturbance of the world; None: there is none."""
        self._state: RobotState | None = None

    def reset(self, task: str, init_id: int) -> RobotState:
        """Put the world into an initial state and return the arm's state there.

        Raises:
            OpenralError: there is no such task, or the simulator cannot be reset.
        """
        self._state = self._backend.reset([task], [init_id])[0]
        self._pictures.forget()
        self._depths.forget()
        self.task, self.init_id = task, init_id
        if self.disturbance is not None:
            self.disturbance.begin()
        return self._state

    def step(self, action: NDArray[Any]) -> RobotState:
        """Advance the world by one control step with `action` (A,)."""
        if self.disturbance is not None and self._state is not None:
            action = self.disturbance.act(self._state, action)
        result = self._backend.step(action[None])
        self.success, self._state = result.success[0], result.states[0]
        return self._state

    def images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.uint8]]:
        """Return the present image (H, W, 3) uint8 RGB of each camera."""
        return self._pictures.of(cameras)

    def depth_images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the present depth image (H, W) float32 [m] of each camera."""
        return self._depths.of(cameras)


class WorldRecorder:
    """Records each control step of the loop, with the simulator's snapshot and success signal, in `truth.npz`."""

    def __init__(self, arm: SimulatedArm, backend: Backend, record: TruthRecorder) -> None:
        self._arm, self._backend, self._record = arm, backend, record
        self._struck = ""

    def step(self, stamp_s: float, wall_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """Record a control step with the state of the world after it."""
        world = self._backend.snapshot()
        self._record.step(stamp_s, wall_s, world, action, held, self._arm.success, goal_id)
        struck = self._arm.disturbance.done if self._arm.disturbance else ""
        if struck and not self._struck:
            self._record.disturbed(stamp_s, struck)
        self._struck = struck

    def begin(self, stamp_s: float) -> None:
        """Record a reset of the world."""
        self._record.reset(stamp_s, self._arm.task, self._arm.init_id)

    def chunk(self, stamp_s: float, latency_s: float, rejected: bool) -> None:
        """Record a chunk of an admitted goal."""
        self._record.chunk(stamp_s, latency_s, rejected)
