"""The loop that moves an arm: one control step after the other, in real time or lockstep with a policy."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.pacing import GIVE_UP_S, Pacer, RateMeter
from openral_core.errors import ControlError, OpenralError
from openral_core.types import RobotState

REPEAT_S = 0.1
"""[s] wall time after which a waiting lockstep loop publishes its observation again, for latecomers."""

Mode = Literal["realtime", "lockstep"]


@dataclass(frozen=True)
class LoopSettings:
    """How the loop runs."""

    camera_periods: Mapping[str, int]
    """Control steps between two images, for each camera."""
    mode: Mode = "realtime"
    """`lockstep`, for simulated arms: time stands still until the policy has answered the present observation."""
    real_time_factor: float = 1.0
    """Seconds of the arm's clock per wall second in real time; 0: as fast as possible. Lockstep runs unpaced."""
    clock: Callable[[], float] | None = None
    """[s] what stamps follow, such as `time.time`, when the loop was stopped or fell behind; None: they count steps."""


class Arm(Protocol):
    """What the loop moves, simulated or real. All calls come from the loop's thread."""

    control_hz: float
    """[Hz] rate of `step`."""

    def step(self, action: NDArray[Any]) -> RobotState:
        """Execute one control step with `action` (A,) in the scene's action contract; return what it led to.

        Raises:
            OpenralError: the arm cannot go on.
        """
        ...

    def images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.uint8]]:
        """Return the present image (H, W, 3) uint8 RGB of each camera."""
        ...


class LoopRecorder(Protocol):
    """What keeps a record of the loop. All calls come from the loop's thread."""

    def step(self, stamp_s: float, wall_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """One control step was executed.

        Args:
            stamp_s: [s] of the state that it led to, on the bridge's clock.
            wall_s: [s] monotonic.
            action: (A,)
            held: the arm was told to stay where it is.
            goal_id: whose chunk the action is from; empty for a hold.
        """
        ...

    def begin(self, stamp_s: float) -> None:
        """The arm begins anew, in a state that no control step led to."""
        ...

    def chunk(self, stamp_s: float, latency_s: float, rejected: bool) -> None:
        """A chunk was taken or refused."""
        ...


class Sink(Protocol):
    """Where the loop's observations go. All calls come from the loop's thread."""

    def together(self) -> AbstractContextManager[None]:
        """While it is open, what `executed`, `clock` and `state` tell may be kept; it goes out in order at the end."""
        ...

    def clock(self, stamp_s: float) -> None:
        """The arm's time advanced, or the loop waits and time stands still."""
        ...

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """A control step was executed; its state comes next. The arguments are those of `LoopRecorder.step`."""
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


@dataclass
class _Interruption:
    """Work that waits for the loop's thread, and what became of it."""

    work: Callable[[], RobotState]
    done: threading.Event = field(default_factory=threading.Event)
    error: OpenralError | None = None
    stamp_s: float = 0.0


class ControlLoop:
    """Owns the arm. `run` blocks; the other methods may be called from any thread."""

    def __init__(
        self,
        arm: Arm,
        executor: ChunkExecutor,
        sink: Sink,
        settings: LoopSettings,
        state: RobotState,
        recorder: LoopRecorder | None = None,
    ) -> None:
        """Make a loop that begins with the arm in `state`."""
        self._arm = arm
        self._executor = executor
        self._sink = sink
        self._settings = settings
        self._recorder = recorder
        self._dt = 1.0 / arm.control_hz
        self._pacer = Pacer(self._dt, settings.real_time_factor)
        self._meter = RateMeter()
        self._wake = threading.Condition()
        self._inbox: deque[Chunk] = deque(maxlen=64)
        self._interruptions: deque[_Interruption] = deque()
        self._step = 0
        self._images: Mapping[str, NDArray[np.uint8]] = {}
        self._images_step = 0
        self._closed = False
        self._state = self._begin_again(state)

    @property
    def now_s(self) -> float:
        """[s] the arm's time, counted from when the loop was made, or its clock's; never jumps back."""
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

    def interrupt(self, work: Callable[[], RobotState], timeout_s: float = 20.0) -> float:
        """Run `work` between two control steps; chunks planned before it are refused afterwards.

        Args:
            work: moves the arm by other means, or puts a simulated world into a state; returns the arm's state then.
            timeout_s: [s] wall time until the work begins; how long it takes is its own matter.

        Returns:
            [s] stamp of the first observation after it.

        Raises:
            ControlError: the loop did not come to it, and will not; or `work` raised what ends the loop.
            OpenralError: what `work` raised.
        """
        if self._closed:
            raise ControlError("the control loop has ended; start the bridge again")
        request = _Interruption(work)
        with self._wake:
            self._interruptions.append(request)
            self._wake.notify()
        if not request.done.wait(timeout_s):
            try:
                self._interruptions.remove(request)
            except ValueError:
                request.done.wait()  # it has begun
            else:
                raise ControlError(f"the control loop was busy for {timeout_s:.0f} s; nothing was done")
        if request.error is not None:
            raise request.error
        return request.stamp_s

    def wake(self) -> None:
        """Let a waiting loop look again whether it may go on."""
        with self._wake:
            self._wake.notify_all()

    def close(self) -> None:
        """Refuse the interruptions that wait and all later ones: the loop's thread has ended."""
        self._closed = True
        while self._interruptions:
            request = self._interruptions.popleft()
            request.error = ControlError("the control loop ended before it came to this")
            request.done.set()

    def stand_by(self, ready: Callable[[], bool]) -> None:
        """Let time stand still until `ready()`; interruptions are served meanwhile."""
        while not ready():
            with self._wake:
                self._wake.wait_for(lambda: self._interruptions or ready())
            self._serve_interruptions()

    def run(self, may_go_on: Callable[[], bool]) -> None:
        """Step the arm while `may_go_on()`.

        Raises:
            OpenralError: the arm failed.
        """
        self._pacer.restart()
        self._follow_clock()
        self._observe()
        while may_go_on():
            self._serve_interruptions()
            if self._settings.mode == "lockstep":
                self._run_lockstep_window()
            else:
                self._follow_clock()
                self._take_chunks()
                self._advance()
                self._sink.clock(self.now_s)
                self._look(self._due_cameras(self._step))
                self._pacer.wait()

    def _run_lockstep_window(self) -> None:
        """Wait for the answer to the present observation, then let it act until the next one."""
        with self._wake:
            if not self._inbox and not self._interruptions:
                self._wake.wait(REPEAT_S)
        answered = self._take_chunks()
        if answered:
            # One wake-up of each process that listens, and not one a step; they read while the images are drawn. For
            # them the whole window is one moment, so its end is the only time that they are told.
            with self._sink.together():
                for _ in range(max(self._settings.camera_periods.values(), default=1)):
                    self._advance()
                self._sink.clock(self.now_s)
            self._look(set(self._settings.camera_periods))
        elif not self._interruptions:
            self._sink.clock(self.now_s)
            self._sink.state(self._state)
            self._sink.images(self._images_step * self._dt, self._images)

    def _follow_clock(self) -> None:
        """Skip the control steps whose time went by unused, where stamps follow a clock."""
        if self._skip(GIVE_UP_S):
            self._state = replace(self._state, stamp_s=self.now_s)

    def _skip(self, allowed_s: float) -> bool:
        """Skip control steps if stamps are farther behind the clock than is allowed [s]; return whether they were."""
        behind_s = 0.0 if self._settings.clock is None else self._settings.clock() - self.now_s
        if behind_s <= allowed_s:
            return False
        self._step += int(behind_s / self._dt)
        return True

    def _ahead_s(self) -> float:
        """Return by how much [s] stamps are ahead of the clock; a clock that was set back counts as two steps."""
        if self._settings.clock is None:
            return 0.0
        return min(2.0 * self._dt, max(0.0, self.now_s - self._settings.clock()))

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

    def _advance(self) -> None:
        """Execute one control step and publish the state that it led to."""
        goal = self._executor.active_goal
        reason = self._executor.check_next(self._step, self._state)
        if reason is not None:
            self._sink.cut_short(reason)
        action, held = self._executor.next(self._step)
        state = self._arm.step(np.asarray(action))
        self._step += 1
        wall = self._meter.tick()
        self._state = replace(state, stamp_s=self.now_s)
        if self._recorder is not None:
            self._recorder.step(self.now_s, wall, action, held, "" if held else goal)
        if self._executor.active_goal != goal:
            self._sink.goal_changed()
        self._sink.executed(self.now_s, action, held, "" if held else goal)
        self._sink.state(self._state)

    def _observe(self) -> None:
        """Publish the present state, and what every camera sees."""
        self._sink.clock(self.now_s)
        self._sink.state(self._state)
        self._look(set(self._settings.camera_periods))

    def _look(self, cameras: set[str]) -> None:
        """Publish what some cameras see."""
        if cameras:
            names = [name for name in self._settings.camera_periods if name in cameras]
            self._images = self._arm.images(names)
            self._images_step = self._step
            self._sink.images(self.now_s, self._images)

    def _due_cameras(self, step: int) -> set[str]:
        return {name for name, period in self._settings.camera_periods.items() if step % period == 0}

    def _serve_interruptions(self) -> None:
        while self._interruptions:
            request = self._interruptions.popleft()
            try:
                self._state = self._begin_again(request.work())
                self._observe()
            except OpenralError as error:
                request.error = error
            except BaseException as error:
                request.error = ControlError(f"the control loop ends: {type(error).__name__}: {error}")
                raise
            finally:
                request.stamp_s = self.now_s
                request.done.set()

    def _begin_again(self, state: RobotState) -> RobotState:
        """Return `state` with a stamp of its own; what was planned from earlier states is void."""
        self._step += 1
        self._skip(self._dt)  # the pacer begins anew, and would not make up for the time that this took
        self._executor.restart(self._step)
        self._pacer.restart(self._ahead_s())
        if self._recorder is not None:
            self._recorder.begin(self.now_s)
        return replace(state, stamp_s=self.now_s)
