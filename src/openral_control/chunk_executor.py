"""The executor between action chunks and the arm: it checks and queues chunks, and returns one action for each step.

Time is counted in control steps since the bridge started. Row i of a chunk that answers the observation of step s is
the action of step s + i, whenever the chunk arrives.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_control.chunk_queue import Chunk, ChunkQueue
from openral_control.handover_blend import Seam
from openral_control.intervention import Intervention, PausedGoal
from openral_core.errors import ControlError, EnvelopeError
from openral_core.types import RobotState

REMEMBERED_GOALS = 64
"""Number of ended goals that are remembered, so that a late chunk of one of them is refused."""
REMEMBERED_STEPS = 256
"""Number of executed actions that are remembered, with which a late chunk is corrected."""


class Checks(Protocol):
    """The checks of `openral_control.envelope.Envelope` that the executor calls."""

    def check(
        self,
        data: NDArray[Any],
        *,
        dim: int,
        dt: float,
        age_s: float,
        state: RobotState | None,
        past: int,
        horizon_limit_s: float,
    ) -> None:
        """Raise EnvelopeError, with the reason, unless the chunk `data` (H, A) may be executed from step `past` on."""
        ...

    def check_step(self, action: NDArray[Any], state: RobotState | None) -> None:
        """Raise EnvelopeError, with the reason, unless the next action (A,) of a checked chunk may be executed."""
        ...


@dataclass(frozen=True)
class Counters:
    """Numbers of executed, held and expired steps and of rejected chunks since the start.

    They are those of `openral/msg/ControlStatus`. A step of a chunk in which the checks of a real arm (hold-to-run,
    slow start, safety filter) kept it still is a held one, not an executed one.
    """

    executed: int = 0
    held: int = 0
    rejected: int = 0
    expired: int = 0


class ChunkExecutor:
    """Holds the queue, the active goal, the intervention, the state of the emergency stop and the counters.

    `offer`, `check_next`, `next` and `stepped` are called from the control thread; `stop`, `release`, `take_over` and
    `give_back` from any thread.
    """

    def __init__(
        self,
        control_hz: float,
        envelope: Checks,
        hold_action: Callable[[NDArray[Any] | None], NDArray[Any]],
        *,
        representation: str,
        catch_up: CatchUp | None = None,
        goal_timeout_s: float = 1.0,
    ) -> None:
        """Create an executor with an empty queue, which holds the arm.

        Args:
            control_hz: [Hz] of control steps.
            envelope: checks each chunk, and each action before it is executed.
            hold_action: returns the action (A,) that keeps the arm in place, given the last executed one or None.
            representation: the scene's action representation; chunks in another one are refused.
            catch_up: corrects chunks that come late, but for an operator's; None: they are executed as they are.
            goal_timeout_s: [s] after the last accepted chunk and executed step at which a goal becomes inactive.
        """
        self._control_hz = control_hz
        self._envelope = envelope
        self._lock = threading.RLock()
        self._hold_action = hold_action
        self._representation = representation
        self._catch_up = catch_up
        self._executed: deque[tuple[int, str, NDArray[Any]]] = deque(maxlen=REMEMBERED_STEPS)
        self._set_point: NDArray[Any] | None = None
        self._led_from: NDArray[Any] | None = None
        self._goal_timeout = round(goal_timeout_s * control_hz)
        self._queue = ChunkQueue()
        self._queued_step = 0
        self._origin = 0
        self._last: NDArray[Any] | None = None
        self._last_executed = 0
        self._sent: NDArray[Any] | None = None
        self._now = 0
        self._seam = Seam(control_hz, representation)
        self._seam_due = False
        self.intervention = Intervention()
        self._retired: deque[str] = deque(maxlen=REMEMBERED_GOALS)
        self._streaks: OrderedDict[str, int] = OrderedDict()
        self.counters = Counters()
        self._uncounted = ""
        """The counter to which the newest step of `next` belongs; empty: none, as while a motion fades out."""
        self.active_goal = ""
        self.skill = ""
        self.instruction = ""
        self.holding = True
        self.estopped = False
        self.last_rejection = ""
        self.rejected_goal = ""

    @property
    def rejected_streak(self) -> int:
        """Number of chunks of `rejected_goal` that were refused since its last executed step."""
        return self._streaks.get(self.rejected_goal, 0)

    def offer(self, chunk: Chunk, step: int, state: RobotState | None) -> str | None:
        """Queue a chunk or refuse it as a whole.

        Args:
            chunk: as received; one that ends its goal is carried out and returns None.
            step: the next control step.
            state: present state of the robot, if known.

        Returns:
            The reason of a refusal; None if the chunk was accepted.
        """
        with self._lock:
            self._observe(state)
            if chunk.ends_goal:
                self._end_goal(chunk.goal_id)
                return None
            if not self.estopped and self.intervention.keeps_out(chunk.goal_id):
                return self._keep_out(chunk)
            answered = self._step_of(chunk)
            counts = answered is not None and not chunk.fault and chunk.dim > 0  # no numbers fit any horizon
            past = min(max(step - (answered or 0), 0), chunk.horizon) if counts else 0
            self._count(expired=past)
            reason = self._outdated(chunk, answered, step)
            if reason is None:
                reason = self._malformed(chunk, answered, step)
                if reason is None and answered is not None:
                    reason = self._check_and_queue(chunk, answered, step, state)
                if reason is not None:
                    self._queue.clear()
            if reason is not None:
                self._refuse(chunk.goal_id, reason)
            return reason

    def check_next(self, step: int, state: RobotState | None) -> str | None:
        """Check the action of control step `step` again, from the present state of the robot.

        A chunk was checked from the position of the hand on its arrival. A hand that lags or is obstructed has not
        moved as the chunk assumed. If the action is no longer allowed, the rest of the chunk is dropped.

        Returns:
            The reason why it was dropped; None if the action may be executed, or if there is none.
        """
        with self._lock:
            self._observe(state)
            action, planned = self._due(step)
            if action is None:
                return None
            try:
                self._envelope.check_step(action, state)
            except EnvelopeError as error:
                self._queue.clear()
                self._seam.close()
                if planned:
                    self._refuse(self.active_goal, str(error))
                return str(error)
            return None

    def next(self, step: int) -> tuple[NDArray[Any], bool]:
        """Return the action (A,) for control step `step`, and whether it is a hold."""
        with self._lock:
            action, planned = self._due(step)
            self._now = step + 1
            if action is not None and planned:
                self._last, self._last_executed, self.holding = action, step, False
                self._uncounted = "executed"
                self._streaks.pop(self.active_goal, None)
                self.last_rejection = ""  # with the count that it explains
                self._sent = action
                self._executed.append((step, self.active_goal, action))
                self._led_from = self._set_point
                return action, False
            self.holding = action is None  # while a motion fades out, the arm moves without a chunk
            self._uncounted = "held" if self.holding else ""
            if self.active_goal and step - max(self._last_executed, self._queued_step) > self._goal_timeout:
                self._set_goal("", "", "")
            self._sent = self._hold_action(self._last) if action is None else action
            return self._sent, self.holding

    def stepped(self, *, followed: bool) -> None:
        """Count the control step that `next` returned last, after the arm was given it.

        Args:
            followed: whether the arm followed; false: its own checks kept it still, so that the step counts as held.
        """
        with self._lock:
            if self._uncounted == "executed" and followed:
                self._count(executed=1)
            elif self._uncounted:
                self._count(held=1)
            self._uncounted = ""

    def coming(self) -> NDArray[np.float32]:
        """Return the queued actions (k, A) after the last one that `next` returned.

        It is (0, 0) without any, during an emergency stop, and while a motion fades in or out.
        """
        with self._lock:
            if self.estopped or self._seam.is_open:
                return np.empty((0, 0), np.float32)
            return self._queue.after(self._now)

    def stop(self) -> None:
        """Latch the emergency stop: hold from the next step until `release`.

        It ends the intervention and all goals: the active one, the operator's, and the one that is paused.
        """
        with self._lock:
            self.estopped = True
            self._queue.clear()
            steered = self.intervention.goal_id
            waits = self.intervention.end()
            self._retire(self.active_goal, steered, waits.goal_id if waits is not None else "")
            self._set_goal("", "", "")
            self._seam.close()
            self._seam_due, self._sent = False, None

    def release(self) -> None:
        """Release the emergency stop. Chunks from before it are not executed any more."""
        with self._lock:
            self._queue.clear()
            self.estopped = False

    def restart(self, step: int) -> None:
        """Clear the queue at control step `step`, from which on chunks for older observations are refused.

        To be called after the arm was moved by other means, such as a reset of the scene.
        """
        with self._lock:
            self._queue.clear()
            self._seam.close()
            self._origin = self._now = step
            self._last = self._sent = self._led_from = None

    def take_over(self, operator: str, goal_id: str) -> None:
        """Let the arm come to rest; until `give_back` only the operator's chunks, those of `goal_id`, move it.

        Args:
            operator: name of the operator.
            goal_id: hex UUID of the operator's chunks; empty: the arm only holds.

        Raises:
            ControlError: the emergency stop is latched.
        """
        with self._lock:
            if self.estopped:
                raise ControlError("the emergency stop is latched; call the service estop_reset")
            waits = None
            if self.active_goal and self.active_goal != self.intervention.goal_id:
                waits = PausedGoal(self.active_goal, self.skill, self.instruction)
            self._retire(self.intervention.goal_id)
            self.intervention.begin(operator, goal_id, waits)
            self._come_to_rest()

    def give_back(self) -> None:
        """Resume the paused goal, with chunks that answer observations from the present step on."""
        with self._lock:
            steered, waits = self.intervention.goal_id, self.intervention.end()
            self._retire(steered)
            self._come_to_rest()
            self._origin = self._now
            if waits is not None:
                self._set_goal(waits.goal_id, waits.skill, waits.instruction)
                self._queued_step = self._now

    def _come_to_rest(self) -> None:
        """Clear the queue and the active goal; fade the motion out, and the next chunk's motion in."""
        self._queue.clear()
        self._set_goal("", "", "")
        self._seam.begin(self._sent, self._now)
        self._seam_due = True

    def _due(self, step: int) -> tuple[NDArray[Any] | None, bool]:
        """Return the action (A,) of a control step, or None for a hold, and whether it comes from a chunk."""
        action = None if self.estopped else self._queue.at(step)
        if self.estopped or not self._seam.is_open:
            return action, action is not None
        return self._seam.blend(self._hold_action(self._last) if action is None else action, step), (
            action is not None
        )

    def _keep_out(self, chunk: Chunk) -> str:
        """Record a chunk's goal as the paused one; return why the chunk is refused. It is not counted as rejected."""
        if self.intervention.waits is None and chunk.goal_id not in self._retired:
            self.intervention.waits = PausedGoal(chunk.goal_id, chunk.skill, chunk.instruction)
        return f"{self.intervention.operator} has the arm; the goal waits until it is given back"

    def _end_goal(self, goal_id: str) -> None:
        """End a goal, be it the active one, the paused one, the operator's, or one that rests between two chunks.

        The arm holds from the next step if it was active. An intervention that the operator has left ends once no goal
        is paused.
        """
        held = self.intervention
        self._retire(goal_id)
        if goal_id and goal_id == self.active_goal:
            self._queue.clear()
            self._seam.close()
            self._set_goal("", "", "")
        if held.waits is not None and goal_id == held.waits.goal_id:
            held.waits = None
        if goal_id and goal_id == held.goal_id:
            held.leave()
        if held.is_left and held.waits is None:
            self.give_back()
            self._seam.close()

    def _retire(self, *goals: str) -> None:
        """Remember goals (hex UUIDs; empty: none) that are over, so that no chunk of them is executed any more."""
        self._retired.extend(goal for goal in goals if goal and goal not in self._retired)

    def _step_of(self, chunk: Chunk) -> int | None:
        return round(chunk.stamp_s * self._control_hz) if np.isfinite(chunk.stamp_s) else None

    def _outdated(self, chunk: Chunk, answered: int | None, step: int) -> str | None:
        """Return why a chunk comes too late, or None. Such a chunk leaves the queue as it is."""
        if self.estopped:
            return "the emergency stop is latched; call the service estop_reset"
        if chunk.goal_id in self._retired:
            return f"goal {chunk.goal_id} has ended or been replaced by a newer one"
        if answered is None or answered > step or chunk.fault:
            return None
        if answered < self._origin:
            return "it answers an observation from before the scene was reset"
        if chunk.goal_id == self.active_goal and answered < self._queued_step:
            return "it answers an older observation than the chunk being executed"
        if step - answered >= chunk.horizon > 0:
            late = (step - answered) / self._control_hz
            return f"it came {late:.3f} s after its observation, past its last step; the policy is too slow"
        return None

    def _malformed(self, chunk: Chunk, answered: int | None, step: int) -> str | None:
        """Return why a chunk is refused for its fields other than the values of its actions, or None."""
        if not chunk.goal_id:
            return "goal_id is empty"
        if chunk.fault:
            return chunk.fault
        if chunk.horizon < 1 or chunk.dim < 1 or chunk.data.size != chunk.horizon * chunk.dim:
            return f"it holds {chunk.data.size} values, not horizon {chunk.horizon} x dim {chunk.dim}"
        if chunk.representation != self._representation:
            return f"representation is '{chunk.representation}', this scene executes '{self._representation}'"
        if answered is None or answered > step:
            now = step / self._control_hz
            fault = f"freshness: its observation is stamped {chunk.stamp_s:.3f} s, now is {now:.3f} s"
            return f"{fault}; is use_sim_time set?"
        return None

    def _check_and_queue(
        self, chunk: Chunk, answered: int, step: int, state: RobotState | None
    ) -> str | None:
        """Check a chunk against the envelope and queue its remaining steps; return the reason of a refusal or None."""
        actions, past = chunk.data.reshape(chunk.horizon, chunk.dim), step - answered
        try:
            self._check(chunk, actions, past, state)
        except EnvelopeError as error:
            return str(error)
        self._queue.replace(step, self._caught_up(chunk, actions, answered, past, state))
        self._queued_step = answered
        if chunk.goal_id != self.active_goal:
            self._retire(self.active_goal)
            self._set_goal(chunk.goal_id, chunk.skill, chunk.instruction)
        if self._seam_due:
            self._seam.begin(self._sent, step)
            self._seam_due = False
        return None

    def _check(self, chunk: Chunk, actions: NDArray[Any], past: int, state: RobotState | None) -> None:
        """Raise EnvelopeError unless the actions (H, A) of a chunk may be executed from step `past` on."""
        self._envelope.check(
            actions,
            dim=chunk.dim,
            dt=chunk.dt,
            age_s=past / self._control_hz,
            state=state,
            past=past,
            horizon_limit_s=chunk.horizon_limit_s,
        )

    def _observe(self, state: RobotState | None) -> None:
        """Note the set point, and forget the executed actions if it did not follow the last one.

        The hand is not where they would have led it, as where an operator lets the hold-to-run device go, so that a
        correction by their sum would move a hand that never moved.
        """
        before, self._led_from = self._led_from, None
        self._set_point = None if state is None else state.ee_target
        if self._catch_up is None or before is None:
            return
        if not self._catch_up.followed(self._executed[-1][2], before, self._set_point):
            self._executed.clear()

    def _caught_up(
        self, chunk: Chunk, actions: NDArray[Any], answered: int, past: int, state: RobotState | None
    ) -> NDArray[Any]:
        """Return the remaining actions of a chunk, corrected unless the corrected ones would leave the envelope."""
        if self._catch_up is None or not past or chunk.goal_id == self.intervention.goal_id:
            return actions[past:]
        executed = np.full((past, chunk.dim), np.nan, np.float32)
        for done, goal_id, action in self._executed:
            if done >= answered and goal_id == chunk.goal_id:
                executed[done - answered] = action
        corrected = actions.copy()
        corrected[past:] = self._catch_up.rows(actions, executed)
        try:
            self._check(chunk, corrected, past, state)
        except EnvelopeError:
            return actions[past:]
        return corrected[past:]

    def _refuse(self, goal_id: str, reason: str) -> None:
        """Count a rejected chunk of a goal, and note the reason."""
        self._count(rejected=1)
        self.last_rejection, self.rejected_goal = reason, goal_id
        self._streaks[goal_id] = self._streaks.get(goal_id, 0) + 1
        self._streaks.move_to_end(goal_id)
        while len(self._streaks) > REMEMBERED_GOALS:
            self._streaks.popitem(last=False)

    def _count(self, *, executed: int = 0, held: int = 0, rejected: int = 0, expired: int = 0) -> None:
        now = self.counters
        self.counters = Counters(
            now.executed + executed, now.held + held, now.rejected + rejected, now.expired + expired
        )

    def _set_goal(self, goal_id: str, skill: str, instruction: str) -> None:
        self.active_goal, self.skill, self.instruction = goal_id, skill, instruction
