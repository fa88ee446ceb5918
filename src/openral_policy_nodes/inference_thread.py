"""Runs inferences one at a time in a thread of its own, on the newest observation; the executor never waits for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from openral_core.adapters.history import FrameHistory
from openral_core.errors import OpenralError
from openral_core.types import StepView
from openral_policy_nodes.goal_supervisor import GoalEnd, InferenceHealth
from openral_policy_nodes.inference import PolicyChunk, SensorSet
from openral_policy_nodes.latency import LatencyStatistics

_log = logging.getLogger(__name__)


class ChunkSource(Protocol):
    """Answers observations with chunks: the `Inference` of a policy, or a `MotionSource`."""

    @property
    def deadline_s(self) -> float:
        """[s] deadline that the source itself gives the running inference; 0: none."""
        ...

    def new_history(self) -> FrameHistory[StepView]:
        """Return an empty history of the instants that it observes, for one goal."""
        ...

    def step_of(self, stamp_ns: int) -> int:
        """Return the index of the control step at a stamp [ns]."""
        ...

    def reset(self, goal_id: str) -> None:
        """Prepare for a goal (hex UUID) that begins."""
        ...

    def chunk(self, sensors: SensorSet, goal_id: str, instruction: str, sequence: int) -> PolicyChunk:
        """Return the chunk with index `sequence` of a goal, or with the goal's end."""
        ...


@dataclass
class GoalRun:
    """State of the running goal in the runner."""

    goal_id: str
    instruction: str
    history: FrameHistory[StepView]
    """Images and states of this goal, as far back as the skill observes."""
    latency: LatencyStatistics = field(default_factory=LatencyStatistics)
    answered_ns: int | None = None
    """[ns] stamp of the newest observation that was passed to the policy."""
    reset_leg: int | None = None
    """Number of pauses before the policy's last reset for the goal; another number than now: it is to be reset."""
    chunks: int = 0
    """Number of published chunks."""
    first_ns: int | None = None
    """[ns] stamp of the observation that the first chunk answers, since the goal began or resumed."""
    newest: PolicyChunk | None = None
    """The last published chunk."""
    error: str | None = None
    """Why inference failed, after which the runner infers nothing for this goal; None: it did not."""
    end: GoalEnd | None = None
    """How the skill itself ended the goal, after which the runner infers nothing for it; None: it did not."""


class PolicyRunner:
    """Holds the newest observation until the policy is free, and infers at most once for each goal and stamp.

    `publish` is called in the worker thread, and only for chunks of the running goal.
    """

    def __init__(
        self, inference: ChunkSource, publish: Callable[[PolicyChunk], None], replay_ns: int, slack_ns: int
    ) -> None:
        """Start the worker thread.

        Args:
            inference: answers observations.
            publish: receives each chunk of the running goal.
            replay_ns: [ns] least time between two observations that are inferred from (`n_action_steps` control steps).
            slack_ns: [ns] by which an observation may be earlier than that (half a control step).
        """
        self._inference = inference
        self._publish = publish
        self._replay_ns = replay_ns - slack_ns
        self._condition = threading.Condition()
        self._goal: GoalRun | None = None
        self._pending: SensorSet | None = None
        self._paused = False
        self._leg = 0
        """Number of pauses; the result of an inference that began before the latest one is discarded."""
        self._busy_since: float | None = None
        self._last_done = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="policy", daemon=True)
        self._thread.start()

    def start(self, goal_id: str, instruction: str) -> GoalRun:
        """Begin a goal (hex UUID) and return its state; the previous goal gets no further chunk."""
        with self._condition:
            self._goal = GoalRun(goal_id, instruction, self._inference.new_history())
            self._pending, self._paused = None, False
            return self._goal

    def pause(self) -> None:
        """Infer nothing for the goal until `go_on`; the result of a running inference is discarded."""
        with self._condition:
            self._paused, self._pending = True, None
            self._leg += 1

    def go_on(self) -> None:
        """Resume the goal from the next observation; its history and its last chunk from before are dropped."""
        with self._condition:
            self._paused, goal = False, self._goal
            if goal is not None:
                goal.history = self._inference.new_history()
                goal.answered_ns, goal.first_ns, goal.newest = None, None, None

    def stop(self) -> None:
        """End the goal; the result of a running inference is discarded."""
        with self._condition:
            self._goal = None
            self._pending = None

    def offer(self, sensors: SensorSet, every: bool = False) -> bool:
        """Add the newest observation to the history; return whether it will be inferred from.

        Args:
            sensors: the observation.
            every: infer even if less than `n_action_steps` control steps have passed since the last one, as a bridge
                in lockstep mode waits for an answer to each observation.
        """
        with self._condition:
            goal = self._goal
            if goal is None or goal.error is not None or goal.end is not None or self._closed:
                return False
            if self._paused:
                return False
            step = self._inference.step_of(sensors.stamp_ns)
            goal.history.add(step, StepView(sensors.images, sensors.state))
            if goal.answered_ns is not None:
                passed = sensors.stamp_ns - goal.answered_ns
                if passed <= 0 or (not every and passed < self._replay_ns):
                    return False
            self._pending = replace(sensors, history=goal.history.at(step))
            self._condition.notify_all()
            return True

    def worker(self) -> InferenceHealth:
        """Return the state of the inference for the running goal."""
        with self._condition:
            busy = 0.0 if self._busy_since is None else time.monotonic() - self._busy_since
            goal = self._goal
            return InferenceHealth(
                goal.error if goal else None,
                busy,
                self._last_done,
                goal.end if goal else None,
                self._inference.deadline_s,
            )

    def close(self, timeout_s: float = 2.0) -> bool:
        """End the worker thread; return False if the policy still hangs, whose thread then ends with the process."""
        with self._condition:
            self._closed = True
            self._goal = self._pending = None
            self._condition.notify_all()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            goal, sensors, leg = job
            try:
                if goal.reset_leg != leg:
                    self._inference.reset(goal.goal_id)
                    goal.reset_leg = leg
                chunk = self._inference.chunk(sensors, goal.goal_id, goal.instruction, goal.chunks)
            except OpenralError as error:
                self._done(goal, leg, None, str(error))
            except Exception as error:  # noqa: BLE001  a policy family may raise anything, which must end the goal
                _log.exception("inference failed for goal %s", goal.goal_id)
                self._done(goal, leg, None, f"{type(error).__name__}: {error}")
            else:
                self._done(goal, leg, chunk, None)

    def _next(self) -> tuple[GoalRun, SensorSet, int] | None:
        with self._condition:
            self._condition.wait_for(
                lambda: self._closed or (self._goal is not None and self._pending is not None)
            )
            if self._closed or self._goal is None or self._pending is None:
                return None
            goal, sensors = self._goal, self._pending
            self._pending = None
            goal.answered_ns = sensors.stamp_ns
            self._busy_since = time.monotonic()
            return goal, sensors, self._leg

    def _done(self, goal: GoalRun, leg: int, chunk: PolicyChunk | None, error: str | None) -> None:
        with self._condition:
            self._busy_since = None
            self._last_done = time.monotonic()
            if goal is not self._goal or leg != self._leg:
                return
            goal.error = error
            if chunk is not None:
                goal.latency.add(chunk.latency_s)
                goal.end = chunk.end
                if chunk.end is not None:
                    return
                goal.chunks += 1
                # Set before the chunk is published, since in lockstep the next observation may arrive at once.
                goal.newest = chunk
                goal.first_ns = chunk.stamp_ns if goal.first_ns is None else goal.first_ns
                try:
                    # Publish under the lock, so that no chunk follows the end of its goal.
                    self._publish(chunk)
                except Exception as failure:  # noqa: BLE001  any failure must end the goal and must not end the thread
                    _log.exception("a chunk of goal %s could not be sent", goal.goal_id)
                    goal.error = f"its chunk could not be sent: {type(failure).__name__}: {failure}"
