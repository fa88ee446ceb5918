"""The loop that moves the arm: one control step after the other, in real time or lockstep with a policy."""

from __future__ import annotations

import contextlib
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError, SimulationError
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.chunk_queue import Chunk
from openral_sim_bridge.executor import Executor
from openral_sim_bridge.pacing import Pacer, RateMeter
from openral_sim_bridge.recorder import TruthRecorder

REPEAT_S = 0.1
"""[s] wall time after which a waiting lockstep loop publishes its observation again, for latecomers."""

Mode = Literal["realtime", "lockstep"]


@dataclass(frozen=True)
class LoopSettings:
    """How the loop runs."""

    task: str
    """Task of the scene that the world starts in."""
    init_id: int
    """Its initial state."""
    camera_periods: Mapping[str, int]
    """Control steps between two images, for each camera."""
    mode: Mode = "realtime"
    real_time_factor: float = 1.0
    """Simulation seconds per wall second in real time; 0: as fast as possible. Lockstep runs unpaced."""


class Sink(Protocol):
    """Where the loop's observations go. All calls come from the loop's thread."""

    def clock(self, stamp_s: float) -> None:
        """Simulation time advanced, or the loop waits and time stands still."""
        ...

    def state(self, state: RobotState) -> None:
        """The robot after a control step; `stamp_s` is the bridge's clock."""
        ...

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """New camera images (H, W, 3) uint8 RGB."""
        ...

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """A chunk was refused."""
        ...

    def cut_short(self, reason: str) -> None:
        """What was left of the active goal's chunk was dropped."""
        ...

    def goal_changed(self) -> None:
        """The executor's active goal is another one now."""
        ...


@dataclass(frozen=True)
class ResetDone:
    """What a reset led to."""

    task: str
    init_id: int
    stamp_s: float
    """[s] stamp of the first observation of the new world."""


@dataclass
class _Reset:
    """A request for a reset on its way to the loop's thread, and the answer."""

    task: str
    init_id: int
    done: threading.Event = field(default_factory=threading.Event)
    error: str = ""
    stamp_s: float = 0.0


class ControlLoop:
    """Owns the world. `run` blocks; the other methods may be called from any thread."""

    def __init__(
        self,
        backend: Backend,
        executor: Executor,
        sink: Sink,
        settings: LoopSettings,
        recorder: TruthRecorder | None = None,
    ) -> None:
        self._backend = backend
        self._executor = executor
        self._sink = sink
        self._settings = settings
        self._recorder = recorder
        self._dt = 1.0 / backend.control_hz
        self._pacer = Pacer(self._dt, settings.real_time_factor)
        self._meter = RateMeter()
        self._wake = threading.Condition()
        self._inbox: deque[Chunk] = deque(maxlen=64)
        self._resets: deque[_Reset] = deque()
        self._step = 0
        self._images: dict[str, NDArray[np.uint8]] = {}
        self._images_step = 0
        self._closed = False
        self._state = self._restart_world(settings.task, settings.init_id)

    @property
    def now_s(self) -> float:
        """[s] simulation time since the loop was made; never jumps back."""
        return self._step * self._dt

    @property
    def effective_hz(self) -> float:
        """[Hz] control steps per wall second over the last two seconds."""
        return self._meter.hz

    @property
    def late_steps(self) -> int:
        """Control steps that began after their time, since the start."""
        return self._pacer.late

    def post(self, chunk: Chunk) -> None:
        """Hand a chunk to the loop."""
        with self._wake:
            self._inbox.append(chunk)
            self._wake.notify()

    def reset(self, task: str, init_id: int, timeout_s: float = 20.0) -> ResetDone:
        """Put the world into an initial state.

        Args:
            task: task of the scene; empty: the one it started in.
            init_id: initial state; negative: the one it started in.
            timeout_s: [s] wall time.

        Raises:
            SimulationError: the world refused, or its thread is busy or has ended.
        """
        if self._closed:
            raise SimulationError("the simulation has ended; start the bridge again")
        request = _Reset(task or self._settings.task, init_id if init_id >= 0 else self._settings.init_id)
        with self._wake:
            self._resets.append(request)
            self._wake.notify()
        if not request.done.wait(timeout_s):
            with contextlib.suppress(ValueError):
                self._resets.remove(request)
            raise SimulationError(
                f"the world did not take the reset within {timeout_s:.0f} s; see the bridge's log"
            )
        if request.error:
            raise SimulationError(request.error)
        return ResetDone(request.task, request.init_id, request.stamp_s)

    def wake(self) -> None:
        """Let a waiting loop look again whether it may go on."""
        with self._wake:
            self._wake.notify_all()

    def close(self) -> None:
        """Refuse the resets that wait and all later ones: the world's thread has ended."""
        self._closed = True
        while self._resets:
            request = self._resets.popleft()
            request.error = "the simulation ended before the reset"
            request.done.set()

    def stand_by(self, ready: Callable[[], bool]) -> None:
        """Let time stand still until `ready()`; resets are served meanwhile."""
        while not ready():
            with self._wake:
                self._wake.wait_for(lambda: self._resets or ready())
            self._serve_resets()

    def run(self, may_go_on: Callable[[], bool]) -> None:
        """Step the world while `may_go_on()`.

        Raises:
            OpenralError: the simulator failed.
        """
        self._pacer.restart()
        self._observe(set(self._settings.camera_periods))
        while may_go_on():
            self._serve_resets()
            if self._settings.mode == "lockstep":
                self._run_lockstep_window()
            else:
                self._take_chunks()
                self._advance(self._due_cameras(self._step + 1))
                self._pacer.wait()

    def _run_lockstep_window(self) -> None:
        """Wait for the answer to the present observation, then let it act until the next one."""
        with self._wake:
            if not self._inbox and not self._resets:
                self._wake.wait(REPEAT_S)
        answered = self._take_chunks()
        if answered:
            window = max(self._settings.camera_periods.values(), default=1)
            for _ in range(window - 1):
                self._advance(set())
            self._advance(set(self._settings.camera_periods))
        elif not self._resets:
            self._sink.clock(self.now_s)
            self._sink.state(self._state)
            self._sink.images(self._images_step * self._dt, self._images)

    def _take_chunks(self) -> bool:
        """Offer what came in to the executor; tell whether a chunk answered the present observation."""
        answered = False
        while self._inbox:
            chunk = self._inbox.popleft()
            goal = self._executor.active_goal
            reason = self._executor.offer(chunk, self._step, self._state)
            dated = not chunk.ends_goal and math.isfinite(chunk.stamp_s)
            if self._recorder is not None and dated:
                self._recorder.chunk(chunk.stamp_s, chunk.latency_s, reason is not None)
            if reason is not None:
                self._sink.rejected(chunk, reason)
            if self._executor.active_goal != goal:
                self._sink.goal_changed()
            # A refused answer moves time on as well: the policy will not answer the same observation twice.
            answered = answered or (dated and round(chunk.stamp_s / self._dt) == self._step)
        return answered

    def _advance(self, cameras: set[str]) -> None:
        """Execute one control step and publish what it led to."""
        goal = self._executor.active_goal
        reason = self._executor.check_next(self._step, self._state)
        if reason is not None:
            self._sink.cut_short(reason)
        action, held = self._executor.next(self._step)
        result = self._backend.step(np.asarray(action)[None])
        self._step += 1
        wall = self._meter.tick()
        self._state = _restamped(result.states[0], self.now_s)
        if self._recorder is not None:
            world = self._backend.snapshot()
            executing = "" if held else goal
            self._recorder.step(self.now_s, wall, world, action, held, result.success[0], executing)
        if self._executor.active_goal != goal:
            self._sink.goal_changed()
        self._observe(cameras)

    def _observe(self, cameras: set[str]) -> None:
        self._sink.clock(self.now_s)
        self._sink.state(self._state)
        if cameras:
            names = [name for name in self._settings.camera_periods if name in cameras]
            self._images = {name: batch[0] for name, batch in self._backend.render(names).items()}
            self._images_step = self._step
            self._sink.images(self.now_s, self._images)

    def _due_cameras(self, step: int) -> set[str]:
        return {name for name, period in self._settings.camera_periods.items() if step % period == 0}

    def _serve_resets(self) -> None:
        while self._resets:
            request = self._resets.popleft()
            try:
                self._state = self._restart_world(request.task, request.init_id)
                self._observe(set(self._settings.camera_periods))
            except OpenralError as error:
                request.error = str(error)
            finally:
                request.stamp_s = self.now_s
                request.done.set()

    def _restart_world(self, task: str, init_id: int) -> RobotState:
        states = self._backend.reset([task], [init_id])
        self._step += 1  # the first observation of the new world gets a stamp of its own
        self._executor.restart(self._step)
        self._pacer.restart()
        if self._recorder is not None:
            self._recorder.reset(self.now_s, task, init_id)
        return _restamped(states[0], self.now_s)


def _restamped(state: RobotState, stamp_s: float) -> RobotState:
    """The backend counts from its last reset; the bridge's clock never jumps back."""
    return replace(state, stamp_s=stamp_s)
