"""Assembly of streams of states, images, chunks and executed steps into frames on a fixed grid of control steps.

Control step n leads to the state with stamp n / control_hz. A frame at step n holds the state n, for each camera the
newest image that is not newer than n, and the executed steps n + 1 .. n + K. It is made when all of these have been
received, or after `PATIENCE_S`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_data.recorded_columns import RecordedColumns
from openral_data.recording.frame import RecordedFrame

PATIENCE_S = 1.0
"""[s] on the bridge's clock for which a frame waits for a late image or state."""
KEPT_CHUNKS = 8
"""Number of latest chunks among which the commanded action of a step is looked up."""
GAP_S = 2.0
"""[s] on the bridge's clock without an executed step, or without a state, after which a recording does not go on, as
after a jump back."""


@dataclass(frozen=True)
class ExecutedStep:
    """One executed control step."""

    action: NDArray[np.float32]
    """(A,)"""
    held: bool
    intervention: bool


@dataclass(frozen=True)
class CommandedChunk:
    """A received chunk of H actions."""

    answered: int
    """Control step of its observation; its first action is that of the next step."""
    data: NDArray[np.float32]
    """(H, A)"""


@dataclass
class RecordingLosses:
    """Counts of data that was not received."""

    repeated_images: int = 0
    missing_steps: int = 0
    missing_states: int = 0


@dataclass
class _Camera:
    """Images of one camera that no frame has used yet, with their stamps in (fractional) control steps."""

    waiting: deque[tuple[float, NDArray[np.uint8]]] = field(default_factory=deque)
    taken: float = -1.0
    unused: NDArray[np.uint8] | None = None
    """The image that was taken last, until a frame has it."""

    @property
    def newest(self) -> float:
        return self.waiting[-1][0] if self.waiting else self.taken


class FrameAssembler:
    """Collects received data; `executed` and `finish` return the frames that are complete."""

    def __init__(self, columns: RecordedColumns) -> None:
        """Create an assembler; the first image of the first camera begins its frames."""
        self.columns = columns
        self.losses = RecordingLosses()
        self._hz = columns.control_hz
        self._image_steps = (GAP_S + PATIENCE_S) * self._hz + 2 * columns.steps
        self._chunks: deque[CommandedChunk] = deque(maxlen=KEPT_CHUNKS)
        self.restart()

    def restart(self, after_s: float | None = None) -> None:
        """Discard all data and begin with the next image of the first camera; losses are not reset.

        Args:
            after_s: [s] only images with later stamps are used; None: all are.
        """
        self._after_s = after_s
        self._next: int | None = None
        self._newest = -1
        self._begun = self._broken = False
        self._states: dict[int, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
        self._joints: dict[int, tuple[NDArray[np.float32], float]] = {}
        self._steps: dict[int, ExecutedStep] = {}
        self._cameras = {camera.key: _Camera() for camera in self.columns.cameras}

    def joints(self, stamp_s: float, names: Sequence[str], positions: Sequence[float]) -> None:
        """Add the joints' positions [rad] or [m]; joints that are not named become nan."""
        known = dict(zip(names, positions, strict=False))
        vector = np.array([known.get(name, np.nan) for name in self.columns.joints], np.float32)
        self._joints[self._step(stamp_s)] = vector, known.get(self.columns.gripper, 0.0)
        self._bound(self._joints)

    def pose(self, stamp_s: float, pose: Sequence[float]) -> None:
        """Add the hand's pose (7,): position [m] and unit quaternion x, y, z, w.

        The joints with the same stamp must be added before; else the latest ones are used.
        """
        step = self._step(stamp_s)
        joints, opening = self._joints.get(step) or next(reversed(self._joints.values()), (None, 0.0))
        if joints is not None:
            self._states[step] = np.array([*pose, opening], np.float32), joints
            self._bound(self._states)

    def image(self, key: str, stamp_s: float, image: NDArray[np.uint8]) -> None:
        """Add an image (H, W, 3) uint8 RGB of the camera with a feature key.

        Those that have waited for longer than any frame does are discarded: no control step comes, as while the arm is
        not connected yet, or the first camera sends nothing.
        """
        if self._after_s is not None and stamp_s <= self._after_s:
            return
        step, waiting = stamp_s * self._hz, self._cameras[key].waiting
        while waiting and (
            abs(step - waiting[0][0]) > self._image_steps or len(waiting) >= self._image_steps
        ):
            waiting.popleft()
        waiting.append((step, image))
        if self._next is None and key == self.columns.cameras[0].key:
            self._next = round(step)

    def chunk(self, stamp_s: float, data: NDArray[np.float32]) -> None:
        """Add a chunk (H, A) by the stamp of its observation [s], whether it is executed or not."""
        self._chunks.append(CommandedChunk(self._step(stamp_s), data))

    def goal_ended(self) -> None:
        """Discard the chunks, since their goal has ended."""
        self._chunks.clear()

    def is_apart(self, stamp_s: float) -> bool:
        """Return whether an executed step with a stamp [s] does not go on from the frames before.

        The clock jumped, or no state came for longer than `GAP_S`.
        """
        jumps = self._newest >= 0 and not -1 <= self._step(stamp_s) - self._newest <= GAP_S * self._hz
        return jumps or self._broken

    def executed(self, stamp_s: float, step: ExecutedStep) -> list[RecordedFrame]:
        """Add an executed control step by the stamp [s] of its resulting state; return the frames that are complete."""
        number = self._step(stamp_s)
        self._newest = max(self._newest, number)
        self._steps[number] = step
        return self._take(self._complete)

    def finish(self) -> list[RecordedFrame]:
        """Return the remaining frames whose steps have all been executed, and restart."""
        frames = self._take(lambda number: self._newest >= number + self.columns.steps)
        self.restart()
        return frames

    def _step(self, stamp_s: float) -> int:
        return round(stamp_s * self._hz)

    def _complete(self, number: int) -> bool:
        """Return whether all data of the frame at a control step has been received, or its waiting time is over."""
        ends = number + self.columns.steps
        come = number in self._states and all(camera.newest >= number for camera in self._cameras.values())
        return self._newest >= (ends if come else ends + PATIENCE_S * self._hz)

    def _take(self, ready: Callable[[int], bool]) -> list[RecordedFrame]:
        """Return the frames that are ready, and discard data that is not needed any more."""
        frames = []
        if self._next is not None and self._newest >= 0 and self._is_of_another_clock(self._next):
            self._begin_later()
        while self._next is not None and not self._broken and ready(self._next):
            frame = self._frame(self._next)
            if frame is not None:
                frames.append(frame)
                self._begun = True
            elif self._begun:
                self._broken = True  # the frames after it would follow without a sign of the gap
            self._next += self.columns.steps
        self._forget(self._newest - self.columns.steps if self._next is None else self._next)
        return frames

    def _is_of_another_clock(self, step: float) -> bool:
        """Return whether an image's stamp, in control steps, is too far from the newest control step for any frame."""
        return abs(step - self._newest) > self._image_steps

    def _begin_later(self) -> None:
        """Begin with the next image of the first camera, and discard those that no frame can have.

        The stamp of the first one is of another clock, or none, or no control step came for long.
        """
        self._next = None
        for camera in self._cameras.values():
            camera.waiting = deque(one for one in camera.waiting if not self._is_of_another_clock(one[0]))

    def _frame(self, number: int) -> RecordedFrame | None:
        """Return the frame at a control step; None: no state for `GAP_S`, or no image of some camera so far."""
        state = self._states.get(number)
        if state is None:
            earlier = [step for step in self._states if number - GAP_S * self._hz <= step <= number]
            if not earlier:
                return None
            self.losses.missing_states += 1
            state = self._states[max(earlier)]
        images = {key: self._image(camera, number) for key, camera in self._cameras.items()}
        if any(image is None and self._cameras[key].taken < 0 for key, image in images.items()):
            return None  # a camera has not sent any image yet
        for camera in self._cameras.values():
            camera.unused = None
        wanted = range(number + 1, number + self.columns.steps + 1)
        steps = [self._executed(step) for step in wanted]
        return RecordedFrame(
            stamp_s=number / self._hz,
            state=state[0],
            joints=state[1],
            executed=np.stack([step.action for step in steps]),
            commanded=np.stack([self._commanded(n, step) for n, step in zip(wanted, steps, strict=True)]),
            held=np.array([step.held for step in steps]),
            intervention=any(step.intervention for step in steps),
            images=images,
        )

    def _image(self, camera: _Camera, number: int) -> NDArray[np.uint8] | None:
        """Return the newest image up to half a step after a control step that no frame has; None: there is none."""
        found = None
        while camera.waiting and camera.waiting[0][0] <= number + 0.5:
            camera.taken, found = camera.waiting.popleft()
        if found is None and camera.taken >= 0:
            self.losses.repeated_images += 1
        camera.unused = camera.unused if found is None else found
        return camera.unused

    def _executed(self, number: int) -> ExecutedStep:
        if number in self._steps:
            return self._steps[number]
        self.losses.missing_steps += 1
        before = [step for step in self._steps if step < number]
        nothing = np.zeros(self.columns.action_dim, np.float32)
        known = self._steps[max(before)] if before else ExecutedStep(nothing, True, False)
        return ExecutedStep(known.action, True, known.intervention)

    def _commanded(self, number: int, step: ExecutedStep) -> NDArray[np.float32]:
        """Return the commanded action (A,): the executed one, or in a hold that of the newest chunk with this step."""
        if step.held:
            for chunk in reversed(self._chunks):
                row = number - 1 - chunk.answered
                if 0 <= row < len(chunk.data) and chunk.data.shape[1] == self.columns.action_dim:
                    asked: NDArray[np.float32] = chunk.data[row]
                    return asked
        return step.action

    def _bound(self, table: dict[int, Any]) -> None:
        """Discard what came first where no control step comes, with which `_forget` is called, for long."""
        while len(table) > 2 * self._image_steps:
            del table[next(iter(table))]

    def _forget(self, before: int) -> None:
        """Discard data that no later frame needs. K more steps are kept, and states for `GAP_S`, if one is missing."""
        kept = max(float(self.columns.steps), GAP_S * self._hz)
        tables = ((self._states, kept), (self._joints, self.columns.steps), (self._steps, self.columns.steps))
        for table, steps in tables:
            for step in [step for step in table if step < before - steps]:
                del table[step]
