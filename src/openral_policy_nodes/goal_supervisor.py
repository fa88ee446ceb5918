"""Decides when a goal is over and which check ended it. Pure: clocks and events are handed in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from openral_core.instant import Instant

MOTION_CHECK = "motion"
"""Check of a goal that a motion has ended, by what it measured."""


class GoalOutcome(IntEnum):
    """How a goal ends; the numbers of ExecuteSkill.action."""

    SUCCEEDED = 1
    FAILED = 2
    DEADLINE = 3
    CANCELED = 4
    REJECTED = 5
    ESTOPPED = 6
    STOPPED = 7


@dataclass(frozen=True)
class GoalEnd:
    """The end of a goal."""

    outcome: GoalOutcome
    check: str
    """Which check ended it: client_cancel, deadline, estop, stale_observation, envelope, policy_error, …"""
    message: str
    stopped_by: str = ""
    """Name of the condition of `stop_when` that fired, or max_steps; empty: neither."""


@dataclass(frozen=True)
class Limits:
    """When a goal is given up."""

    frame_period_s: float
    """[s] clock of the bridge, between two images of the scene's slowest camera."""
    stale_wall_s: float = 1.0
    """[s] wall time without a fresh observation before it counts as stale, if the bridge's clock agrees."""
    stale_frames: float = 10.0
    """Frame periods of the bridge's clock without a fresh observation before it counts as stale."""
    silent_wall_s: float = 3.0
    """[s] wall time without a fresh observation after which it is stale whatever the clock says: the bridge is dead."""
    inference_wall_s: float = 10.0
    """[s] wall time of one inference after which the policy counts as hanging."""
    rejections: int = 3
    """Chunks refused in a row that end the goal."""


@dataclass(frozen=True)
class BridgeStatus:
    """What ControlStatus says, as far as a goal needs it."""

    active_goal: str
    executed: int
    rejected_goal: str
    """Goal whose chunk was refused last."""
    rejected_streak: int
    """Its chunks refused in a row."""
    last_rejection: str
    lockstep: bool = False
    holding: bool = False
    """No step of a chunk was executed last."""
    stamp_s: float = 0.0
    """[s] clock of the bridge."""
    taken_over: bool = False
    """An operator has the arm, and every goal waits."""
    stopped_by: str = ""
    """Name of the check that keeps a real arm from moving; empty: nothing does."""


@dataclass(frozen=True)
class InferenceHealth:
    """How inference for the goal is doing."""

    error: str | None = None
    """Why it failed, if it did."""
    busy_s: float = 0.0
    """[s] wall time of the inference under way, 0 when none is."""
    last_done_s: float = 0.0
    """[s] monotonic clock at which the last one ended."""
    end: GoalEnd | None = None
    """How the goal has ended by what its skill saw itself."""


class GoalSupervisor:
    """Watches one goal from its acceptance to its end."""

    def __init__(
        self,
        goal_id: str,
        deadline_s: float,
        limits: Limits,
        begun: Instant,
        status: BridgeStatus | None,
    ) -> None:
        """Begin to watch.

        Args:
            goal_id: hex UUID.
            deadline_s: [s] allowed duration on the node's clock.
            limits: when to give up.
            begun: when the goal was accepted.
            status: the bridge's newest status, if there was one.
        """
        self._goal_id = goal_id
        self._deadline_s = deadline_s
        self._limits = limits
        # A ROS clock of zero means that no time has arrived yet; the goal begins with the first that does.
        self._started_s = begun.stamp_s if begun.stamp_s > 0.0 else None
        self._fresh = begun
        self._status = status
        self._streak = 0
        self._paused: Instant | None = None

    def elapsed_s(self, stamp_s: float) -> float:
        """[s] node clock from the beginning of the goal to a stamp."""
        until_s = stamp_s if self._paused is None else min(stamp_s, self._paused.stamp_s)
        return 0.0 if self._started_s is None else max(0.0, until_s - self._started_s)

    @property
    def is_paused(self) -> bool:
        """Whether the goal waits while an operator has the arm."""
        return self._paused is not None

    def pause(self, now: Instant) -> None:
        """An operator has taken the arm: the deadline stands still, and old observations are no fault."""
        self._paused = self._paused or now

    def go_on(self, now: Instant) -> None:
        """The arm was given back."""
        paused, self._paused = self._paused, None
        if paused is None:
            return
        if self._started_s is not None:
            self._started_s += max(0.0, now.stamp_s - paused.stamp_s)
        self._fresh, self._streak = now, 0

    def on_fresh_observation(self, now: Instant) -> None:
        """Note that a complete observation with a new stamp arrived."""
        self._fresh = now

    def on_status(self, status: BridgeStatus, chunks_sent: int) -> None:
        """Take the bridge's status; `chunks_sent` of this goal bounds what it can have refused."""
        before, self._status = self._status, status
        if self.is_paused:
            return
        if status.rejected_goal == self._goal_id:
            self._streak = min(status.rejected_streak, chunks_sent)
        elif before is not None and status.active_goal == self._goal_id and status.executed > before.executed:
            self._streak = 0

    def verdict(
        self,
        now: Instant,
        worker: InferenceHealth,
        *,
        cancel: bool,
        estopped: bool,
        stopped: GoalEnd | None = None,
    ) -> GoalEnd | None:
        """Return how the goal ends, or None while it goes on.

        Args:
            now: the present moment.
            worker: how inference is doing.
            cancel: the client asked for it.
            estopped: the bridge's E-stop is latched.
            stopped: how its stop conditions or its step budget end it; faults go before it, the deadline behind.
        """
        end = self._judged(now, worker, cancel=cancel, estopped=estopped, stopped=stopped)
        hindrance = self._status.stopped_by if self._status else ""
        if end is None or not hindrance or end.check not in (MOTION_CHECK, "deadline"):
            return end
        if end.outcome is GoalOutcome.SUCCEEDED:
            return end
        return replace(end, message=f"{end.message}; the bridge keeps the arm from moving: {hindrance}")

    def _judged(
        self,
        now: Instant,
        worker: InferenceHealth,
        *,
        cancel: bool,
        estopped: bool,
        stopped: GoalEnd | None,
    ) -> GoalEnd | None:
        if self._started_s is None and now.stamp_s > 0.0:
            self._started_s = now.stamp_s
            self._fresh = Instant(now.stamp_s, self._fresh.wall_s)
        if estopped:
            return GoalEnd(
                GoalOutcome.ESTOPPED, "estop", "the E-stop is latched; reset it with the service estop_reset"
            )
        if cancel:
            return GoalEnd(GoalOutcome.CANCELED, "client_cancel", "canceled by the client")
        if self.is_paused:
            return None
        if worker.error is not None:
            return GoalEnd(GoalOutcome.FAILED, "policy_error", worker.error)
        if worker.end is not None:
            return worker.end
        if worker.busy_s > self._limits.inference_wall_s:
            text = f"the policy has not answered for {worker.busy_s:.1f} s; restart its node"
            return GoalEnd(GoalOutcome.FAILED, "policy_error", text)
        if self._streak >= self._limits.rejections:
            return self._refused(f"{self._streak} chunks in a row")
        if stopped is not None:
            return stopped
        if self.elapsed_s(now.stamp_s) >= self._deadline_s:
            text = f"{self._deadline_s:.1f} s are over; whether the task is done is for the reward monitor to say"
            return GoalEnd(GoalOutcome.DEADLINE, "deadline", text)
        return self._stale(now, worker)

    def _stale(self, now: Instant, worker: InferenceHealth) -> GoalEnd | None:
        limits = self._limits
        fresh_wall_s = self._fresh.wall_s
        frames = (now.stamp_s - self._fresh.stamp_s) / limits.frame_period_s
        lockstep = self._status is not None and self._status.lockstep
        if lockstep:  # the world stands still until the inference under way is answered
            fresh_wall_s = max(fresh_wall_s, now.wall_s if worker.busy_s > 0.0 else worker.last_done_s)
        wall = now.wall_s - fresh_wall_s
        if not (wall > limits.stale_wall_s and frames > limits.stale_frames) and wall <= limits.silent_wall_s:
            return None
        if lockstep and self._streak > 0:
            return self._refused("the chunk it waits for")
        text = (
            f"no complete observation with a new stamp for {wall:.1f} s ({frames:.0f} frame periods of the bridge's "
            "clock); is the bridge alive, and does every camera of the scene publish?"
        )
        return GoalEnd(GoalOutcome.FAILED, "stale_observation", text)

    def _refused(self, what: str) -> GoalEnd:
        why = self._status.last_rejection if self._status else ""
        return GoalEnd(
            GoalOutcome.FAILED, "envelope", f"the bridge refused {what}: {why or 'it gave no reason'}"
        )
