"""Decides when a goal is over and which check ended it. No ROS, no clock: events and instants are passed in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from openral_core.hardware.arm_mode import takes_commands
from openral_core.instant import Instant

SET_BACK_S = 1.0
"""[s] by which the node's clock must be before the beginning of a goal to count as set back."""
MOTION_CHECK = "motion"
"""Value of `GoalEnd.check` of a goal that its motion ended by its own measurements."""


class GoalOutcome(IntEnum):
    """Outcome of a goal, numbered as in ExecuteSkill.action."""

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
    """Name of the check that ended it: client_cancel, deadline, estop, stale_observation, envelope, policy_error, …"""
    message: str
    """Reason, for people."""
    stopped_by: str = ""
    """Name of the condition of `stop_when` that ended it, or max_steps; empty: neither did."""


CANCELED = GoalEnd(GoalOutcome.CANCELED, "client_cancel", "canceled by the client")
"""End of every goal that its client canceled."""


@dataclass(frozen=True)
class Limits:
    """Limits beyond which a goal fails.

    Observations are stale once both `stale_wall_s` and `stale_frames` have passed without a new one, or
    `silent_wall_s` alone.
    """

    frame_period_s: float
    """[s] on the bridge's clock, between two images of the scene's slowest camera."""
    stale_wall_s: float = 1.0
    """[s] wall time since the newest observation."""
    stale_frames: float = 10.0
    """Frame periods on the bridge's clock since the newest observation."""
    silent_wall_s: float = 3.0
    """[s] wall time since the newest observation, after which the bridge is taken to be dead."""
    inference_wall_s: float = 10.0
    """[s] wall time of one inference after which the policy is taken to hang, unless its own deadline is later."""
    rejections: int = 3
    """Consecutive refused chunks that end the goal."""


@dataclass(frozen=True)
class BridgeStatus:
    """The fields of a ControlStatus that a goal needs."""

    active_goal: str
    """Goal whose chunks the bridge executes (hex UUID); empty: none."""
    executed: int
    """Control steps that the bridge has executed, over all goals."""
    rejected_goal: str
    """Goal of the chunk that was refused last (hex UUID)."""
    rejected_streak: int
    """Number of its consecutive refused chunks."""
    last_rejection: str
    """Why that chunk was refused."""
    lockstep: bool = False
    """Whether the bridge waits for an answer to each observation."""
    holding: bool = False
    """Whether the arm held its position in the last control step, instead of executing an action."""
    stamp_s: float = 0.0
    """[s] clock of the bridge."""
    taken_over: bool = False
    """Whether an operator controls the arm, while every goal waits."""
    stopped_by: str = ""
    """Name of the check that prevents a real arm from moving; empty: none does."""


@dataclass(frozen=True)
class InferenceHealth:
    """State of the inference for the running goal."""

    error: str | None = None
    """Why inference failed; None: it did not."""
    busy_s: float = 0.0
    """[s] wall time since the running inference began; 0: none is running."""
    last_done_s: float = 0.0
    """[s] monotonic clock at the end of the last inference."""
    end: GoalEnd | None = None
    """How the skill itself ended the goal, as motions do; None: it did not."""
    deadline_s: float = 0.0
    """[s] deadline that the policy itself gives the running inference, such as the first one of a server; 0: none."""

    def hangs(self, limits: Limits) -> bool:
        """Return whether the running inference has taken longer than both the limit and the policy's own deadline."""
        return self.busy_s > max(limits.inference_wall_s, self.deadline_s)


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
        """Begin to watch a goal.

        Args:
            goal_id: hex UUID.
            deadline_s: [s] allowed duration on the node's clock.
            limits: beyond which it fails.
            begun: when the goal was accepted.
            status: newest status of the bridge; None: there was none.
        """
        self._goal_id = goal_id
        self._deadline_s = deadline_s
        self._limits = limits
        # A ROS clock of zero has not received a time yet; the goal then begins at the first time that arrives.
        self._started_s = begun.stamp_s if begun.stamp_s > 0.0 else None
        self._fresh = begun
        self._status = status
        self._arm_refuses = ""
        """Why the arm takes no commands, as a status since the beginning says; empty: it does."""
        self._streak = 0
        self._paused: Instant | None = None
        self._paused_wall_s = 0.0
        """[s] wall time of the newest status that says that an operator controls the arm."""

    def elapsed_s(self, stamp_s: float) -> float:
        """Return the time [s] on the node's clock from the beginning of the goal to a stamp [s], without pauses."""
        until_s = stamp_s if self._paused is None else min(stamp_s, self._paused.stamp_s)
        return 0.0 if self._started_s is None else max(0.0, until_s - self._started_s)

    @property
    def is_paused(self) -> bool:
        """Whether the goal waits while an operator controls the arm."""
        return self._paused is not None

    def pause(self, now: Instant) -> None:
        """Stop counting towards the deadline and checking for stale observations: an operator controls the arm.

        Call it at every status of the bridge that says so, without which the goal ends.
        """
        self._paused = self._paused or now
        self._paused_wall_s = now.wall_s

    def go_on(self, now: Instant) -> None:
        """Resume after a pause: the arm was given back."""
        paused, self._paused = self._paused, None
        if paused is None:
            return
        if self._started_s is not None:
            self._started_s += max(0.0, now.stamp_s - paused.stamp_s)
        self._fresh, self._streak = now, 0

    def on_fresh_observation(self, now: Instant) -> None:
        """Record that a complete observation with a new stamp arrived."""
        self._fresh = now

    def on_status(self, status: BridgeStatus, chunks_sent: int) -> None:
        """Update the count of refused chunks.

        Args:
            status: of the bridge.
            chunks_sent: number of chunks of this goal so far, which bounds how many of them were refused.
        """
        before, self._status = self._status, status
        self._arm_refuses = "" if takes_commands(status.stopped_by) else status.stopped_by
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
            worker: state of the inference.
            cancel: whether the client canceled the goal.
            estopped: whether the bridge's E-stop is latched.
            stopped: end by a stop condition or the step budget; it yields to faults and precedes the deadline.
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
            return CANCELED
        if self.is_paused:
            return self._silent(now)
        if self._arm_refuses:
            text = f"the arm takes no commands ({self._arm_refuses}), and rests until it gets another goal"
            return GoalEnd(GoalOutcome.FAILED, "arm", f"{text}; clear that, then call the service recover")
        if worker.error is not None:
            return GoalEnd(GoalOutcome.FAILED, "policy_error", worker.error)
        if worker.end is not None:
            return worker.end
        if worker.hangs(self._limits):
            text = f"the policy has not answered for {worker.busy_s:.1f} s; restart its node"
            return GoalEnd(GoalOutcome.FAILED, "policy_error", text)
        if self._streak >= self._limits.rejections:
            return self._refused(f"{self._streak} chunks in a row")
        if stopped is not None:
            return stopped
        if self._started_s is not None and now.stamp_s < self._started_s - SET_BACK_S:
            back_s = self._started_s - now.stamp_s
            text = f"the clock was set back to {back_s:.1f} s before the goal began, so its deadline would not come"
            return GoalEnd(GoalOutcome.FAILED, "clock", f"{text}; send it again")
        if self.elapsed_s(now.stamp_s) >= self._deadline_s:
            text = f"{self._deadline_s:.1f} s are over; whether the task is done is for the reward monitor to say"
            return GoalEnd(GoalOutcome.DEADLINE, "deadline", text)
        return self._stale(now, worker)

    def _silent(self, now: Instant) -> GoalEnd | None:
        """End a goal that waits for an operator if its bridge is dead: a new one would move the arm for it at once."""
        silent_s = now.wall_s - self._paused_wall_s
        if silent_s <= self._limits.silent_wall_s:
            return None
        text = f"the bridge has said nothing for {silent_s:.1f} s while an operator had the arm; is it alive?"
        return GoalEnd(GoalOutcome.FAILED, "stale_observation", text)

    def _stale(self, now: Instant, worker: InferenceHealth) -> GoalEnd | None:
        limits = self._limits
        fresh_wall_s = self._fresh.wall_s
        frames = (now.stamp_s - self._fresh.stamp_s) / limits.frame_period_s
        lockstep = self._status is not None and self._status.lockstep
        if lockstep:  # simulated time stands still until the running inference is answered
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
