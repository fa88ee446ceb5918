"""Takes the current task of a mission from its preparation to a verified end, or to the next rung of the ladder."""

from __future__ import annotations

from collections.abc import Callable

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressThresholds
from openral_core.stop_conditions import FingerTravel
from openral_reasoner.mission.attempt import Command, DirectorConfig
from openral_reasoner.mission.goal_tracker import GoalTracker
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.ladder.preparation import Preparation
from openral_reasoner.mission.ladder.recovery import Recovery
from openral_reasoner.mission.ladder.rung_steps import Point, is_all, needs_its_steps
from openral_reasoner.mission.mission import Mission, MissionState, Task
from openral_reasoner.mission.plan_requests import PlanRequests
from openral_reasoner.mission.question import AskOperatorFor
from openral_reasoner.mission.verification.deferred_verdict import Verification
from openral_reasoner.mission.verification.gripper_check import contradiction
from openral_reasoner.mission.verification.second_look import unseen
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import Skill


class TaskRunner:
    """Prepares attempts at a task, sends their goals, and judges them.

    Not thread-safe; clocks as in `Director`. A method that returns commands returns None where it has changed the state
    of the mission, so that the director looks at it again.
    """

    def __init__(
        self,
        mission: Callable[[], Mission],
        plan_requests: PlanRequests,
        ask: AskOperatorFor,
        *,
        gate: ProgressThresholds,
        config: DirectorConfig,
        experience: Experience,
        fingers: FingerTravel | None,
    ) -> None:
        """Begin without a task.

        Args:
            mission: returns the mission in work.
            plan_requests: has the skills that may be used now.
            ask: asks the operator.
            gate: thresholds at which an attempt counts as done or as stalled.
            config: limits and time-outs.
            experience: counts of how often each rung of the ladder worked.
            fingers: opening of the robot's fingers, empty and closed; None: what they hold is not checked.
        """
        self._mission, self._plan_requests = mission, plan_requests
        self._config, self._experience, self._fingers = config, experience, fingers
        self.goals = GoalTracker(self._say, self._settled, gate, config)
        """The active goal."""
        self.verification = Verification(self._say, config.comeback_patience_s)
        """Verifies attempts whose end the reward monitor did not judge."""
        self.recovery = Recovery(ask, config, experience)
        """Decides what follows a failed attempt."""
        self._preparation = Preparation(self.goals, config)

    def forget(self) -> None:
        """Drop all state, since another mission begins."""
        self.recovery.forget()
        self._preparation.forget()
        self.verification.forget()

    def start(self, now: Instant) -> list[Command] | None:
        """Begin the next attempt at the current task as soon as its skill is there; fail it if that takes too long."""
        task, palette = self._task, self._plan_requests.palette
        planned = task.planned
        skill = palette.find(planned.skill.name)
        if skill is not None or is_all(task):
            return self._attempt(task, skill or planned.skill, now)
        loading = (
            planned.skill.name in palette.excluded
        )  # its node is there, and may take long to load weights
        patience_s = self._config.palette_patience_s if loading else self._config.comeback_patience_s
        if self._plan_requests.waited_s(now.wall_s) > patience_s:
            gone = f"{planned.skill.node} did not come back within {patience_s:.0f} s"
            self._fail(Judgement(GateVerdict.STALLED, gone, broken_off=True), now, lost=True)
        return []

    def found(self, key: int, point: Point | None, why: str) -> bool:
        """Take the answer to a `FindThing`, [m] in the world frame; return whether it was still awaited."""
        return self.verification.found(key, point) or self._preparation.found(key, point, why)

    def verify(self, now: Instant) -> list[Command] | None:
        """Return what is to be asked about an attempt that is being verified, or judge it once all is known."""
        due = self.verification.due(now)
        if isinstance(due, Judgement):
            self.judge(due, now)
            return None
        return list(due)

    def judge(self, judgement: Judgement, now: Instant) -> None:
        """Complete the current task, or take the next rung of the ladder.

        A success of a task that ends with a thing in the hand counts as a failure where the fingers hold nothing.
        """
        mission, task = self._mission(), self._task
        done = judgement.verdict is GateVerdict.SUCCEEDED
        doubt = contradiction(task, self._fingers) if done else ""
        if doubt:
            mission.say(now.stamp_s, "verdict", doubt)
            self._fail(Judgement(GateVerdict.STALLED, doubt), now)
        elif done:
            self._experience.succeeded(mission, task)
            mission.complete(now.stamp_s, judgement.reason)
        else:
            self._fail(judgement, now)

    # -- parts -------------------------------------------------------------------------------------

    @property
    def _task(self) -> Task:
        mission = self._mission()
        return mission.tasks[mission.active_task]

    def _attempt(self, task: Task, skill: Skill, now: Instant) -> list[Command] | None:
        """Prepare the next attempt and then begin it, or do the task by motions alone."""
        mission, palette = self._mission(), self._plan_requests.palette
        self.recovery.first_way(mission, task, palette, now)
        if is_all(task):
            task.started_s = task.started_s or now.stamp_s
        before = self._preparation.due(mission, task, palette, now)
        if before is not None:
            return before
        failure, points = self._preparation.take_failure(), self._preparation.points
        hand = self._preparation.carried_to if is_all(task) else None
        self._preparation.forget()
        if failure:
            mission.say(now.stamp_s, "prepare", f"it did not work: {failure}")
        if failure and needs_its_steps(task):
            self._fail(Judgement(GateVerdict.STALLED, failure), now, made=False)
            return None
        self.verification.attempt_begins(points, hand)
        if is_all(task):
            self.verification.begin(unseen(task.planned), mission.attempt(now.stamp_s), now)
            return None
        return [self.goals.send(mission.attempt(now.stamp_s), skill, now)]

    def _settled(self, task: Task, judgement: Judgement, now: Instant) -> None:
        """Take in that the goal of a task, an attempt's or a motion's, has ended."""
        self._plan_requests.wait_anew(now.wall_s)
        mission = self._mission()
        if mission.state is not MissionState.ACTIVE or task is not mission.current:
            return  # the mission was stopped or replaced
        if self._preparation.drives:
            self._preparation.driven(judgement)
        elif not self.verification.begin(judgement, task, now):
            self.judge(judgement, now)

    def _fail(self, judgement: Judgement, now: Instant, *, lost: bool = False, made: bool = True) -> None:
        palette = self._plan_requests.palette
        self.recovery.fail(self._mission(), palette, judgement, now, lost=lost, made=made)

    def _say(self, now_s: float, kind: str, reason: str) -> None:
        self._mission().say(now_s, kind, reason)
