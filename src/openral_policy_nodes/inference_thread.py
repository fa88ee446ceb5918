"""Runs inference in a thread of its own, one at a time, newest observation first; the executor never waits for it."""

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
    """What answers observations with chunks: the `Inference` of a policy, or motions."""

    def new_history(self) -> FrameHistory[StepView]:
        """Return an empty history of the instants that it looks at, for one goal."""
        ...

    def step_of(self, stamp_ns: int) -> int:
        """Return the control step of a stamp [ns]."""
        ...

    def reset(self, goal_id: str) -> None:
        """Hear that a goal begins."""
        ...

    def chunk(self, sensors: SensorSet, goal_id: str, instruction: str, sequence: int) -> PolicyChunk:
        """Return one chunk, or the goal's end."""
        ...


@dataclass
class GoalRun:
    """What the runner knows about the goal it works for."""

    goal_id: str
    instruction: str
    history: FrameHistory[StepView]
    """The images and states of this goal, as far back as the skill looks."""
    latency: LatencyStatistics = field(default_factory=LatencyStatistics)
    answered_ns: int | None = None
    """[ns] stamp of the newest observation given to the policy."""
    begun: bool = False
    """The policy knows of the goal."""
    chunks: int = 0
    """Chunks published."""
    first_ns: int | None = None
    """[ns] stamp of the observation that the first of them answers."""
    newest: PolicyChunk | None = None
    """The last of them."""
    error: str | None = None
    """Why inference failed; the runner does no more for this goal."""
    end: GoalEnd | None = None
    """How the goal has ended by what its skill saw itself; the runner does no more for it."""


class PolicyRunner:
    """Holds the newest observation until the policy is free, and infers once for each (goal, stamp).

    `publish` is called in the worker thread, only while the goal is still the running one.
    """

    def __init__(
        self, inference: ChunkSource, publish: Callable[[PolicyChunk], None], replay_ns: int, slack_ns: int
    ) -> None:
        """Start the worker thread.

        Args:
            inference: answers observations.
            publish: receives each chunk of the running goal.
            replay_ns: [ns] time between the observations that are worth an inference (`n_action_steps` control steps).
            slack_ns: [ns] how much earlier an observation may come and still count (half a control step).
        """
        self._inference = inference
        self._publish = publish
        self._replay_ns = replay_ns - slack_ns
        self._condition = threading.Condition()
        self._goal: GoalRun | None = None
        self._pending: SensorSet | None = None
        self._paused = False
        self._leg = 0
        """Counts pauses: what was inferred in another leg of a goal is thrown away."""
        self._busy_since: float | None = None
        self._last_done = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="policy", daemon=True)
        self._thread.start()

    def start(self, goal_id: str, instruction: str) -> GoalRun:
        """Begin to work for a goal; the goal before it gets no further chunk."""
        with self._condition:
            self._goal = GoalRun(goal_id, instruction, self._inference.new_history())
            self._pending, self._paused = None, False
            return self._goal

    def pause(self) -> None:
        """Infer nothing for the goal until `go_on`; an inference that is under way is thrown away when it ends."""
        with self._condition:
            self._paused, self._pending = True, None
            self._leg += 1

    def go_on(self) -> None:
        """Plan anew for the goal, from the next observation: what it saw and planned before counts no more."""
        with self._condition:
            self._paused, goal = False, self._goal
            if goal is not None:
                goal.history = self._inference.new_history()
                goal.answered_ns, goal.first_ns, goal.newest, goal.begun = None, None, None, False

    def stop(self) -> None:
        """Work for no goal; an inference that is under way is thrown away when it ends."""
        with self._condition:
            self._goal = None
            self._pending = None

    def offer(self, sensors: SensorSet, every: bool = False) -> bool:
        """Give the newest observation, for the history at least; return whether it will be answered.

        Args:
            sensors: the observation.
            every: answer it even if less than `n_action_steps` have passed since the last one: a bridge in lockstep
                mode waits for an answer to each observation.
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
        """How inference is doing for the running goal."""
        with self._condition:
            busy = 0.0 if self._busy_since is None else time.monotonic() - self._busy_since
            goal = self._goal
            return InferenceHealth(
                goal.error if goal else None, busy, self._last_done, goal.end if goal else None
            )

    def close(self, timeout_s: float = 2.0) -> bool:
        """End the worker; return False if the policy still hangs (its thread dies with the process)."""
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
                if not goal.begun:
                    self._inference.reset(goal.goal_id)
                    goal.begun = True
                chunk = self._inference.chunk(sensors, goal.goal_id, goal.instruction, goal.chunks)
            except OpenralError as error:
                self._done(goal, leg, None, str(error))
            except Exception as error:  # noqa: BLE001  a family's own code may raise anything; the goal must learn of it
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
                # Before it goes out: in lockstep the next observation may follow at once.
                goal.newest = chunk
                goal.first_ns = chunk.stamp_ns if goal.first_ns is None else goal.first_ns
                try:
                    # Under the lock, so that no chunk follows the end of its goal.
                    self._publish(chunk)
                except Exception as failure:  # noqa: BLE001  whatever it is, the goal must learn of it, and the thread go on
                    _log.exception("a chunk of goal %s could not be sent", goal.goal_id)
                    goal.error = f"its chunk could not be sent: {type(failure).__name__}: {failure}"
