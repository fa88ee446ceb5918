"""The control loop of an arm, which executes control steps in real time or in lockstep with a policy."""

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

MOST_WAITING = 64
"""Largest number of chunks that wait for the loop."""
REPEAT_S = 0.1
"""[s] wall time after which a waiting lockstep loop publishes its observation again, for nodes that start late."""

Mode = Literal["realtime", "lockstep"]


@dataclass(frozen=True)
class LoopSettings:
    """Settings of a control loop."""

    camera_periods: Mapping[str, int]
    """Number of control steps from one image to the next, by camera."""
    mode: Mode = "realtime"
    """`lockstep`, for simulated arms: time does not pass until the policy has answered the present observation."""
    real_time_factor: float = 1.0
    """Seconds of the arm's clock per wall second; 0: as fast as possible. Only used in real time."""
    clock: Callable[[], float] | None = None
    """Returns the time [s], such as `time.time`, to which stamps skip ahead after the loop was stopped or fell behind.

    None: stamps count control steps alone.
    """
    stopped_by: Callable[[], str] = str
    """Returns why a real arm did not follow the last step, by the name of its own check; empty: it followed."""


class Arm(Protocol):
    """A simulated or real arm. All methods are called from the loop's thread."""

    control_hz: float
    """[Hz] rate of `step`."""

    def step(self, action: NDArray[Any]) -> RobotState:
        """Execute one control step with `action` (A,) of the scene's action contract; return the resulting state.

        Raises:
            OpenralError: the arm cannot go on.
        """
        ...

    def images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.uint8]]:
        """Return the present image (H, W, 3) uint8 RGB of each camera."""
        ...


class LoopRecorder(Protocol):
    """Records the steps and chunks of the loop. All methods are called from the loop's thread."""

    def step(self, stamp_s: float, wall_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """Record an executed control step.

        Args:
            stamp_s: [s] stamp of the resulting state on the bridge's clock.
            wall_s: [s] monotonic wall time.
            action: (A,)
            held: whether the action is a hold.
            goal_id: goal of the action's chunk; empty for a hold.
        """
        ...

    def begin(self, stamp_s: float) -> None:
        """Record that the arm is now in a state which is not the result of a control step, as after a reset."""
        ...

    def chunk(self, stamp_s: float, latency_s: float, rejected: bool) -> None:
        """Record a chunk by the stamp of its observation [s], its inference time [s] and whether it was rejected."""
        ...


class Sink(Protocol):
    """Publishes the observations and events of the loop. All methods are called from the loop's thread."""

    def together(self) -> AbstractContextManager[None]:
        """Return a context in which `executed`, `clock` and `state` may be buffered, and sent in order at its end."""
        ...

    def clock(self, stamp_s: float) -> None:
        """Publish the arm's time [s]; called after each step, and repeatedly with the same time in a waiting loop."""
        ...

    def executed(self, stamp_s: float, action: NDArray[Any], held: bool, goal_id: str) -> None:
        """Publish an executed control step, before its state. The arguments are those of `LoopRecorder.step`."""
        ...

    def begin(self, stamp_s: float) -> None:
        """Publish, before its state, that the arm is now in a state that no control step led to, as after a reset."""
        ...

    def state(self, state: RobotState) -> None:
        """Publish the robot's state after a control step; its `stamp_s` is on the bridge's clock."""
        ...

    def images(self, stamp_s: float, images: Mapping[str, NDArray[np.uint8]]) -> None:
        """Publish new camera images (H, W, 3) uint8 RGB, by camera."""
        ...

    def rejected(self, chunk: Chunk, reason: str) -> None:
        """Report that a chunk was refused."""
        ...

    def cut_short(self, reason: str) -> None:
        """Report that the rest of the active goal's chunk was dropped."""
        ...

    def goal_changed(self) -> None:
        """Report that the executor's active goal has changed."""
        ...


@dataclass
class _Interruption:
    """Work to be done in the loop's thread, and its result."""

    work: Callable[[], RobotState]
    done: threading.Event = field(default_factory=threading.Event)
    error: OpenralError | None = None
    stamp_s: float = 0.0


class ControlLoop:
    """Steps an arm. `run` and `stand_by` block in the loop's thread; other methods may be called from any thread."""

    def __init__(
        self,
        arm: Arm,
        executor: ChunkExecutor,
        sink: Sink,
        settings: LoopSettings,
        state: RobotState,
        recorder: LoopRecorder | None = None,
    ) -> None:
        """Create a loop whose arm is in `state`."""
        self._arm = arm
        self._executor = executor
        self._sink = sink
        self._settings = settings
        self._recorder = recorder
        self._dt = 1.0 / arm.control_hz
        self._pacer = Pacer(self._dt, settings.real_time_factor)
        self._meter = RateMeter()
        self._wake = threading.Condition()
        self._inbox: deque[Chunk] = deque()
        self._dropped: tuple[int, Chunk] | None = None
        """Number of chunks that did not fit into the inbox since the last look, and the newest of them."""
        self._interruptions: deque[_Interruption] = deque()
        self._step = 0
        self._images: Mapping[str, NDArray[np.uint8]] = {}
        self._images_step = 0
        self._closed = False
        self._state = self._begin_again(state)

    @property
    def now_s(self) -> float:
        """[s] the arm's time, from the creation of the loop or of its clock; it never decreases."""
        return self._step * self._dt

    @property
    def ahead_s(self) -> float:
        """[s] by which stamps are ahead of the clock, as where it was set back; 0: they are not, or follow none."""
        clock = self._settings.clock
        return 0.0 if clock is None else max(0.0, self.now_s - clock())

    @property
    def effective_hz(self) -> float:
        """[Hz] control steps per wall second, averaged over the last 2 s."""
        return self._meter.hz

    @property
    def late_steps(self) -> int:
        """Number of control steps that began late since the start."""
        return self._pacer.late

    def post(self, chunk: Chunk) -> None:
        """Pass a chunk to the loop, which offers it to the executor before the next control step.

        While the loop is held up, the newest `MOST_WAITING` wait, and the ends of goals go before other chunks.
        """
        with self._wake:
            if len(self._inbox) >= MOST_WAITING:
                place = next((n for n, each in enumerate(self._inbox) if not each.ends_goal), 0)
                self._dropped = (self._dropped[0] if self._dropped else 0) + 1, self._inbox[place]
                del self._inbox[place]
            self._inbox.append(chunk)
            self._wake.notify()

    def forget_chunks(self) -> None:
        """Drop the chunks that were posted and not yet offered to the executor."""
        with self._wake:
            self._inbox.clear()

    def interrupt(self, work: Callable[[], RobotState], timeout_s: float = 20.0) -> float:
        """Run `work` in the loop's thread between two control steps; chunks from before it are refused afterwards.

        Args:
            work: moves the arm by other means or resets a simulated world; returns the resulting state.
            timeout_s: [s] wall time within which the work must begin; its own duration is not limited.

        Returns:
            [s] stamp of the first observation after it.

        Raises:
            ControlError: the work did not begin in time, or it raised an exception that ends the loop.
            OpenralError: raised by `work`.
        """
        request = _Interruption(work)
        with self._wake:
            if self._closed:
                raise ControlError("the control loop has ended; start the bridge again")
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
        """Wake a waiting loop, so that it evaluates its condition again."""
        with self._wake:
            self._wake.notify_all()

    def close(self) -> None:
        """Fail all pending and later interruptions; to be called at the end of the loop's thread."""
        with self._wake:
            self._closed = True
        while self._interruptions:
            request = self._interruptions.popleft()
            request.error = ControlError("the control loop ended before it came to this")
            request.done.set()

    def stand_by(self, ready: Callable[[], bool]) -> None:
        """Block without a control step until `ready()`, but serve interruptions."""
        while not ready():
            with self._wake:
                self._wake.wait_for(lambda: self._interruptions or ready())
            self._serve_interruptions()

    def run(self, may_go_on: Callable[[], bool]) -> None:
        """Step the arm while `may_go_on()`.

        Raises:
            OpenralError: the arm failed.
        """
        self._follow_clock(self._dt)  # the restarted pacer does not catch up the time without steps
        self._pacer.restart(min(2.0 * self._dt, self.ahead_s))
        self._observe()
        while may_go_on():
            self._serve_interruptions()
            if self._settings.mode == "lockstep":
                self._run_lockstep_window()
            else:
                self._follow_clock(GIVE_UP_S)
                self._take_chunks()
                self._advance()
                self._sink.clock(self.now_s)
                self._look(self._due_cameras(self._step))
                self._pacer.wait()

    def _run_lockstep_window(self) -> None:
        """Wait for a chunk that answers the present observation, then execute the steps until the next observation."""
        with self._wake:
            if not self._inbox and not self._interruptions:
                self._wake.wait(REPEAT_S)
        answered = self._take_chunks()
        if answered:
            # The messages are sent at once, so that a subscribing process wakes up once and not once for each step; it
            # reads them while the images are rendered. Therefore only the time at the end of the window is published.
            with self._sink.together():
                for _ in range(max(self._settings.camera_periods.values(), default=1)):
                    self._advance()
                self._sink.clock(self.now_s)
            self._look(set(self._settings.camera_periods))
        elif not self._interruptions:
            self._sink.clock(self.now_s)
            self._sink.state(self._state)
            self._sink.images(self._images_step * self._dt, self._images)

    def _follow_clock(self, allowed_s: float) -> None:
        """Skip control steps if stamps follow a clock and are more than `allowed_s` [s] behind it."""
        if self._skip(allowed_s):
            self._state = replace(self._state, stamp_s=self.now_s)

    def _skip(self, allowed_s: float) -> bool:
        """Skip control steps if stamps are more than `allowed_s` [s] behind the clock; return whether they were."""
        behind_s = 0.0 if self._settings.clock is None else self._settings.clock() - self.now_s
        if behind_s <= allowed_s:
            return False
        self._step += int(behind_s / self._dt)
        return True

    def _take_chunks(self) -> bool:
        """Offer the received chunks to the executor; return whether one of them answered the present observation."""
        answered = False
        self._tell_dropped()
        while (chunk := self._next_chunk()) is not None:
            goal = self._executor.active_goal
            reason = self._executor.offer(chunk, self._step, self._state)
            dated = not chunk.ends_goal and math.isfinite(chunk.stamp_s)
            if self._recorder is not None and dated:
                self._recorder.chunk(chunk.stamp_s, chunk.latency_s, reason is not None)
            if reason is not None:
                self._sink.rejected(chunk, reason)
            if self._executor.active_goal != goal:
                self._sink.goal_changed()
            # A refused chunk counts as an answer, too, since the policy does not answer the same observation twice.
            answered = answered or (dated and round(chunk.stamp_s / self._dt) == self._step)
        return answered

    def _next_chunk(self) -> Chunk | None:
        with self._wake:
            return self._inbox.popleft() if self._inbox else None

    def _tell_dropped(self) -> None:
        with self._wake:
            dropped, self._dropped = self._dropped, None
        if dropped is not None:
            count, newest = dropped
            why = f"{count} chunks came while the loop was busy, and the newest {MOST_WAITING} are kept"
            self._sink.rejected(newest, why)

    def _advance(self) -> None:
        """Execute one control step and publish the resulting state."""
        goal = self._executor.active_goal
        reason = self._executor.check_next(self._step, self._state)
        if reason is not None:
            self._sink.cut_short(reason)
        action, held = self._executor.next(self._step)
        state = self._arm.step(np.asarray(action))
        self._executor.stepped(followed=not self._settings.stopped_by())
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
        """Publish the present time and state and the images of all cameras."""
        self._sink.clock(self.now_s)
        self._sink.state(self._state)
        self._look(set(self._settings.camera_periods))

    def _look(self, cameras: set[str]) -> None:
        """Publish the present images of some cameras."""
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
        """Return `state` with the stamp of a new control step; discard what was planned from earlier states."""
        self._step += 1
        self._skip(self._dt)  # the restarted pacer does not catch up the time that this took
        self._executor.restart(self._step)
        self._pacer.restart(min(2.0 * self._dt, self.ahead_s))
        if self._recorder is not None:
            self._recorder.begin(self.now_s)
        self._sink.begin(self.now_s)
        return replace(state, stamp_s=self.now_s)
