"""The active goal, at most one: sends it, watches it, judges it, and makes sure that it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_reasoner.mission.attempt import Attempt, CancelGoal, Command, DirectorConfig, SendGoal
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.mission import Task, TaskState
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import Skill

MAX_WORDS = 200
"""Characters of the instruction of a motion's goal."""
Say = Callable[[float, str, str], None]
"""(time [s] on the node's clock, kind of the step, reason) -> None; writes a step of the mission log."""
Settled = Callable[[Task, Judgement, Instant], None]
"""(task, judgement, now) -> None; called when the goal of that task has ended."""


class GoalTracker:
    """Follows one attempt from its goal to its judgement. Not thread-safe; clocks as in `Director`."""

    def __init__(self, say: Say, settled: Settled, gate: ProgressThresholds, config: DirectorConfig) -> None:
        self._say, self._settled = say, settled
        self._gate, self._config = gate, config
        self._attempt: Attempt | None = None
        self._task: Task | None = None
        self._keys = 0
        self._bridge_wall_s = 0.0
        self.active_goal: str | None = None
        """Hex UUID of the goal that the bridge executes, empty: none; None: the bridge has not spoken yet."""
        self._paused: Instant | None = None
        """When an operator took the arm over; None: nobody has it."""

    @property
    def busy(self) -> bool:
        """Whether a goal was sent and has not ended yet."""
        return self._attempt is not None

    @property
    def accepted(self) -> tuple[str, str] | None:
        """Name of the skill and hex UUID of the goal that its policy node accepted, until it ends; None: none."""
        attempt = self._attempt
        return (attempt.skill.name, attempt.goal_id) if attempt is not None and attempt.goal_id else None

    @property
    def paused(self) -> bool:
        """Whether an operator has the arm in place of the policies."""
        return self._paused is not None

    @property
    def running(self) -> bool:
        """Whether a policy's goal runs that the reward monitor judges at present.

        It does not where the goal is a motion's, is not accepted yet, is being cancelled, or an operator has the arm.
        """
        attempt = self._attempt
        return (
            attempt is not None
            and bool(attempt.goal_id)
            and attempt.ending is None
            and not attempt.skill.judges_itself
            and self._paused is None
        )

    def send(self, task: Task, skill: Skill, now: Instant) -> SendGoal:
        """Begin an attempt at a task and return its goal."""
        planned = task.planned
        deadline_s = skill.max_execution_s or self._config.default_deadline_s
        words_sent = f'{skill.name} is asked to "{planned.instruction}"'
        self._say(now.stamp_s, "attempt", f"attempt {task.attempts}: {words_sent}, within {deadline_s:.1f} s")
        goal = SendGoal(
            self._keys + 1,
            skill,
            planned.instruction,
            planned.skill_task,
            deadline_s,
            json.dumps(dict(planned.params)) if planned.params else "",
            planned.stop_when,
            planned.max_steps,
        )
        return self._begin(goal, task, now)

    def drive(self, task: Task, motion: Skill, params: Mapping[str, Any], now: Instant) -> SendGoal:
        """Begin a motion that prepares an attempt at a task, and return its goal."""
        deadline_s = motion.max_execution_s or self._config.default_deadline_s
        words = motion.description or motion.name
        goal = SendGoal(self._keys + 1, motion, words[:MAX_WORDS], "", deadline_s, json.dumps(dict(params)))
        return self._begin(goal, task, now)

    def _begin(self, goal: SendGoal, task: Task, now: Instant) -> SendGoal:
        self._keys, self._task, task.report = goal.key, task, None
        self._attempt = Attempt(goal.key, goal.skill, now.stamp_s, goal.deadline_s, now.wall_s)
        self._bridge_wall_s = now.wall_s
        return goal

    def watch(self, now: Instant) -> list[Command]:
        """Return the cancellation of a goal that is done, stalled, too late, or no longer answered; else nothing."""
        attempt, patience = self._attempt, self._config.answer_patience_s
        if attempt is None:
            return []
        if attempt.ending is not None:
            if now.wall_s - attempt.cancelled_wall_s > patience:
                self._say(now.stamp_s, "silent", f"{attempt.skill.node} did not answer the cancellation")
                self._settle(attempt.ending, now)
            return []
        if not attempt.goal_id:
            if now.wall_s - attempt.sent_wall_s > patience:
                silent = f"{attempt.skill.node} did not answer the goal within {patience:.0f} s"
                return self.cancel(Judgement(GateVerdict.STALLED, silent, broken_off=True), now.wall_s)
            return []
        if now.wall_s - self._bridge_wall_s > self._config.bridge_patience_s:
            silent = f"the bridge sent no control_status for {self._config.bridge_patience_s:.0f} s"
            return self.cancel(Judgement(GateVerdict.STALLED, silent, broken_off=True), now.wall_s)
        if self._paused is not None:
            return []
        if attempt.skill.judges_itself:
            return self._watch_motion(attempt, now)
        return self._judge(attempt, now)

    def _watch_motion(self, attempt: Attempt, now: Instant) -> list[Command]:
        """Cancel a motion that has not ended itself some time after its deadline."""
        late_s = now.stamp_s - attempt.started_s - attempt.deadline_s
        if late_s <= self._config.answer_patience_s:
            return []
        late = f"{attempt.skill.name} did not end within its {attempt.deadline_s:.1f} s"
        return self.cancel(Judgement(GateVerdict.STALLED, late, broken_off=True), now.wall_s)

    def _judge(self, attempt: Attempt, now: Instant) -> list[Command]:
        judgement = attempt.judge(now.stamp_s, self._gate)
        if judgement.verdict is GateVerdict.ABSTAINED and not attempt.abstaining and attempt.readings:
            self._say(now.stamp_s, "abstained", judgement.reason)
        attempt.abstaining = judgement.verdict is GateVerdict.ABSTAINED
        if judgement.verdict in (GateVerdict.RUNNING, GateVerdict.ABSTAINED):
            return []
        self._say(now.stamp_s, "verdict", f"{judgement.verdict.value}: {judgement.reason}")
        return self.cancel(judgement, now.wall_s)

    def cancel(self, judgement: Judgement, wall_s: float) -> list[Command]:
        """Cancel the active goal, if there is one; once it has ended, this is its judgement."""
        attempt, task = self._attempt, self._task
        if attempt is None or attempt.ending is not None:
            return []
        attempt.ending = judgement
        attempt.cancelled_wall_s = wall_s
        if task is not None and task.state is TaskState.ACTIVE:
            task.state = TaskState.VERIFYING
        return [CancelGoal(attempt.key)]

    def bridge_says(self, active_goal: str, wall_s: float) -> None:
        """Take in that the bridge is alive, and which goal it executes, empty for none."""
        self._bridge_wall_s = wall_s
        self.active_goal = active_goal

    def intervention(self, operator: str, now: Instant) -> float | None:
        """Take in who has the arm in place of the policies; empty: nobody.

        Returns:
            The duration [s] of the intervention so far, where it has just begun or ended; None: nothing has changed.
        """
        paused = self._paused
        if bool(operator) == (paused is not None):
            return None
        if paused is None:
            self._paused = now
            return 0.0
        self._paused = None
        attempt = self._attempt
        if attempt is not None:
            # An attempt that began meanwhile has waited since then.
            attempt.started_s += max(0.0, now.stamp_s - max(paused.stamp_s, attempt.started_s))
            attempt.readings.clear()  # the operator has changed the world since
        return max(0.0, now.stamp_s - paused.stamp_s)

    def reading(self, goal_id: str, reading: ProgressReading, now_s: float) -> None:
        """Take a reading of the reward monitor; one of another goal, or one that is not finite, is ignored."""
        attempt, task = self._attempt, self._task
        if attempt is None or task is None or goal_id != attempt.goal_id or attempt.ending:
            return
        if attempt.skill.judges_itself or self._paused is not None:
            return
        if not reading.valid or (attempt.readings and reading.stamp_s <= attempt.readings[-1].stamp_s):
            return  # it is of the same frame as the last one, or of an earlier one
        attempt.readings.append(reading)
        task.progress, task.success = reading.progress, reading.success
        done = reading.says_done(self._gate)
        task.state = TaskState.VERIFYING if done else TaskState.ACTIVE
        self._say(now_s, "reading", f"progress {reading.progress:.2f}, success {reading.success:.2f}")

    # -- answers of the policy node ----------------------------------------------------------------

    def answered(self, key: int, goal_id: str, accepted: bool, now: Instant) -> list[Command]:
        """Take in whether the policy node accepted a goal, and the goal's hex UUID."""
        attempt = self._attempt
        if attempt is None or attempt.key != key:
            return [CancelGoal(key)] if accepted else []  # a goal that was given up is accepted late
        if not accepted:
            reason = f"{attempt.skill.node} refused the goal"
            self._settle(attempt.ending or Judgement(GateVerdict.STALLED, reason, broken_off=True), now)
            return []
        attempt.goal_id = goal_id
        attempt.started_s = now.stamp_s
        return [CancelGoal(key)] if attempt.ending else []

    def ended(self, key: int, report: GoalReport, now: Instant) -> None:
        """Take in how a goal ended."""
        attempt = self._attempt
        if attempt is None or attempt.key != key:
            return
        if self._task is not None:
            self._task.report = report
        if report.stop:
            self._say(now.stamp_s, "stopped", report.stop)
        if attempt.ending is None:
            attempt.ending = attempt.judge_own_end(report, now.stamp_s, self._gate)
            self._say(now.stamp_s, "verdict", f"{attempt.ending.verdict.value}: {attempt.ending.reason}")
        self._settle(attempt.ending, now)

    def skill_lost(self, name: str, reason: str, now: Instant) -> None:
        """Take in that the policy node of a skill is gone: a goal of it has ended without a result."""
        attempt = self._attempt
        if attempt is not None and attempt.skill.name == name:
            self._settle(attempt.ending or Judgement(GateVerdict.STALLED, reason, broken_off=True), now)

    def _settle(self, judgement: Judgement, now: Instant) -> None:
        task, self._task, self._attempt = self._task, None, None
        if task is not None:
            self._settled(task, judgement, now)
