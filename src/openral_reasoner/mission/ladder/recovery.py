"""Takes the next rung of the ladder (`rungs`) for a task that failed, and logs it with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from openral_core.cli.printable import plain_line
from openral_core.instant import Instant
from openral_reasoner.mission.attempt import DirectorConfig
from openral_reasoner.mission.ladder.experience import FIRST, Experience
from openral_reasoner.mission.ladder.rungs import (
    PER_SKILL,
    WAYS,
    Rung,
    Surroundings,
    first_rung,
    next_rung,
    others,
    recoveries,
    way_cost,
    why_no_motions,
)
from openral_reasoner.mission.ladder.task_motions import meaning_of
from openral_reasoner.mission.mission import Mission, Task, TaskState
from openral_reasoner.mission.question import AFTER_FAILURE, YES_OR_NO, AskOperatorFor
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan, PlannedTask, Proposal

_CHANGES = {
    Rung.GO_ON: "it was still getting nearer, and goes on from where the arm stands",
    Rung.HOME: "again, from its start pose",
    Rung.RESTAGE: "again, from above the object",
    Rung.GRASP: "again, once a motion has put the object into the hand",
    Rung.MOTIONS: "now by motions",
}
"""What a rung changes in the next attempt, for the mission log."""
_LAST = (Rung.DECOMPOSE, Rung.ASK, Rung.GIVE_UP)
"""Rungs that come when no skill or motion is left to try; before them the log says why motions are not possible."""


class Recovery:
    """Decides what follows a failed attempt in one mission. Not thread-safe."""

    def __init__(self, ask: AskOperatorFor, config: DirectorConfig, experience: Experience) -> None:
        """Begin without a failed attempt.

        Args:
            ask: asks the operator.
            config: limits and time-outs.
            experience: counts of how often each rung worked; they are read after a failure, and failures are added.
        """
        self._ask, self._config, self._experience = ask, config, experience
        self.can_locate = False
        """Whether the service that locates things is there."""
        self._rung: Rung | None = None
        self._judgement = Judgement(GateVerdict.RUNNING, "")
        self._wanted: tuple[str, Palette] | None = None
        self._palette = Palette()
        self._what = ""
        self._worked: Mapping[str, int] = {}

    @property
    def waits(self) -> bool:
        """Whether the answer of a planner to `take_wanted` is awaited, before which nothing is run."""
        return self._rung is not None

    def forget(self) -> None:
        """Drop what a planner was asked, since another mission begins."""
        self._rung = self._wanted = None

    def take_wanted(self) -> tuple[str, Palette] | None:
        """Return once what a planner is to be asked: the words of a task, and the palette to plan with."""
        wanted, self._wanted = self._wanted, None
        return wanted

    def fail(
        self,
        mission: Mission,
        palette: Palette,
        judgement: Judgement,
        now: Instant,
        *,
        lost: bool = False,
        made: bool = True,
    ) -> None:
        """Decide about the current task of a mission after a failed attempt.

        Args:
            mission: its current task failed.
            palette: what may be used now.
            judgement: of the attempt.
            now: this moment.
            lost: whether its skill is gone, so that it is not tried with it again.
            made: whether the attempt was made; else its preparation failed, without which it is not made.
        """
        task = mission.tasks[mission.active_task]
        self._palette, self._judgement = palette, judgement
        failed = f"attempt {task.attempts} failed: {judgement.reason}"
        self._what = failed if made else f"it was not possible by {task.way}"  # why was said before
        if mission.open_ended and task.ended_as_asked:
            mission.abandon(now.stamp_s, judgement.reason)  # the agent decides what comes next
            return
        if judgement.verdict is GateVerdict.UNVERIFIED and not self._tries_unverified(mission, task, now):
            self._ask_whether_done(mission, task, now)
            return
        if judgement.verdict is GateVerdict.UNVERIFIED:
            task.failed.append(task.way or FIRST)  # it is not counted as a failure, since it may have worked
        elif lost:
            task.tries = max(task.tries, self._config.max_attempts)
        elif not judgement.broken_off:
            self._experience.failed(task)
        self._take(self._next(mission, task, now), mission, task, now)

    def first_way(self, mission: Mission, task: Task, palette: Palette, now: Instant) -> None:
        """Choose by the counts how a task is tried first; without counts it is tried as it was planned."""
        if mission.open_ended or task.attempts or task.way or task.climbed:
            return
        around = self._around(mission, palette, now)
        rung = first_rung(task, around, self._config)
        if rung is None:
            return
        task.climbed.append(rung.value)
        task.way = rung.value
        counted = around.outcomes.counted(task.planned.skill.name, task.planned.skill_task, rung.value)
        worked = f"that worked {counted[1]} of {counted[0]} times before"
        mission.say(now.stamp_s, rung.value, f"first {self._told(rung, task)}: {worked}")

    def _tries_unverified(self, mission: Mission, task: Task, now: Instant) -> bool:
        """Return whether a task that could not be verified is tried in another way.

        It is where no operator is asked and a rung is left that either goes on from where the arm stands, or whose end
        can be measured by the locator. Other rungs locate the things anew, so a task that was done after all is done
        again.
        """
        if mission.open_ended or self._config.ask_patience_s > 0:
            return False
        around = self._around(mission, self._palette, now)
        rung = next_rung(task, mission, around, self._config, replace(self._judgement, broken_off=False))
        measured = self.can_locate and meaning_of(task.planned).can_be_measured
        return rung is Rung.GO_ON or (measured and rung in WAYS)

    def why_not(
        self, way: str, planned: PlannedTask, mission: Mission, palette: Palette, now: Instant
    ) -> str:
        """Return why an agent's task cannot be tried anew in a way; empty: it can.

        A way is for a task that has failed in this mission, and each is gone once.
        """
        asked = (planned.skill.name, planned.skill_task)
        before = [t for t in mission.tasks if (t.planned.skill.name, t.planned.skill_task) == asked]
        rung = next((rung for rung in WAYS if rung.value == way), None)
        if rung is None:
            return (
                f"there is no way '{plain_line(way, 40)}'; there is {', '.join(rung.value for rung in WAYS)}"
            )
        if not any(task.state is TaskState.ABANDONED for task in before):
            return f"{way} is for a task that has failed; try it as it is first"
        if any(task.way == way for task in before):
            return f"{way} was tried for it already"
        around = self._around(mission, palette, now)
        cost = way_cost(rung, Task(planned), around, self._config)
        if isinstance(cost, str):
            return cost
        late = f"it may take {cost:.0f} s, and {around.left_s:.0f} s of the mission's time are left"
        return late if cost > around.left_s else ""

    def _around(self, mission: Mission, palette: Palette, now: Instant) -> Surroundings:
        passed_s = now.stamp_s - (now.stamp_s if mission.begun_s is None else mission.begun_s)
        left_s = self._config.mission_time_s - passed_s if self._config.mission_time_s else inf
        return Surroundings(palette, self.can_locate, left_s, self._experience.outcomes)

    def _next(self, mission: Mission, task: Task, now: Instant) -> Rung:
        around = self._around(mission, self._palette, now)
        if not self._judgement.broken_off:
            around = replace(around, worked=self._experience.worked_before(mission, task))
        self._worked = around.worked
        rung = next_rung(task, mission, around, self._config, self._judgement)
        if rung in _LAST and not mission.open_ended and (why := why_no_motions(task, around, self._config)):
            mission.say(now.stamp_s, Rung.MOTIONS.value, f"not possible: {why}")
        if around.left_s < inf:
            mission.say(
                now.stamp_s, "time", f"{max(around.left_s, 0.0):.0f} s of the mission's time are left"
            )
        return rung

    def _take(self, rung: Rung, mission: Mission, task: Task, now: Instant) -> None:
        reason = self._judgement.reason
        if rung is Rung.RETRY:
            mission.say(now.stamp_s, rung.value, f"{self._what}; trying again")
        elif rung in _CHANGES:
            task.climbed.append(rung.value)
            task.way, task.tries = rung.value, 0
            mission.say(now.stamp_s, rung.value, f"{self._what}; {self._told(rung, task)}")
        elif rung is Rung.OTHER_SKILL:
            if task.planned.skill.name not in task.tried:
                task.tried.append(task.planned.skill.name)
            mission.say(
                now.stamp_s,
                rung.value,
                f"{task.planned.skill.name} gave up: {reason}; is there another skill?",
            )
            self._rung, self._wanted = rung, (task.planned.text, others(self._palette, task))
        elif rung is Rung.DECOMPOSE:
            mission.say(
                now.stamp_s, rung.value, f'"{task.planned.text}" failed: {reason}; are there other steps?'
            )
            self._rung, self._wanted = rung, (task.planned.text, recoveries(self._palette))
        elif rung is Rung.ASK:
            self._ask_what_now(mission, task, now)
        else:
            mission.abandon(now.stamp_s, reason)

    def _told(self, rung: Rung, task: Task) -> str:
        """Return what a rung changes, for the mission log, with how often it worked before."""
        steps = f": {meaning_of(task.planned).steps}" if rung is Rung.MOTIONS else ""
        times = self._worked.get(rung.value, 0)
        before = (
            f" (so it worked {times} time{'s' if times > 1 else ''} before, after the same)" if times else ""
        )
        return _CHANGES[rung] + steps + before

    def planned(self, mission: Mission, result: Proposal, now: Instant) -> None:
        """Take the planner's answer: another skill or steps for the task; without them go on to the next rung."""
        rung, self._rung = self._rung, None
        task = mission.tasks[mission.active_task]
        steps = result.tasks if isinstance(result, Plan) else ()
        if rung is Rung.OTHER_SKILL and len(steps) == 1 and steps[0].skill.name not in task.tried:
            mission.reassign(steps[0])
            task.way, task.climbed = rung.value, [taken for taken in task.climbed if taken not in PER_SKILL]
            mission.say(now.stamp_s, rung.value, f'{steps[0].skill.name} tries "{task.planned.text}"')
        elif rung is Rung.DECOMPOSE and len(steps) > 1:
            words = "; ".join(f'"{step.text}"' for step in steps)
            mission.say(
                now.stamp_s, rung.value, f'{len(steps)} steps in the place of "{task.planned.text}": {words}'
            )
            mission.decompose(steps)
        else:
            task.climbed.append(rung.value if rung else "")
            self._take(self._next(mission, task, now), mission, task, now)

    def _ask_what_now(self, mission: Mission, task: Task, now: Instant) -> None:
        task.climbed.append(Rung.ASK.value)
        reason = self._judgement.reason

        def answered(choice: str | None, now: Instant) -> None:
            if choice == "retry":
                task.tries, task.way = 0, Rung.RETRY.value
                task.climbed = [rung for rung in task.climbed if rung == Rung.ASK.value]
                mission.say(now.stamp_s, Rung.RETRY.value, "the operator wants it tried again")
            elif choice == "skip":
                mission.leave_out(now.stamp_s, f"skipped by the operator: {reason}")
            else:
                mission.abandon(now.stamp_s, reason)

        text = f'"{task.planned.text}" failed: {reason}. Retry, skip, or give up?'
        self._ask(text, self._config.ask_patience_s, answered, now, AFTER_FAILURE)

    def _ask_whether_done(self, mission: Mission, task: Task, now: Instant) -> None:
        """Ask the operator whether a task is done that could not be verified; without an operator it is abandoned."""
        reason = f"it could not be verified: {self._judgement.reason}"
        if mission.open_ended or self._config.ask_patience_s <= 0:
            mission.abandon(now.stamp_s, reason)
            return

        def answered(choice: str | None, now: Instant) -> None:
            if choice == "yes":
                mission.complete(now.stamp_s, "the operator says that it is done")
            elif choice == "no":
                self.fail(
                    mission,
                    self._palette,
                    Judgement(GateVerdict.STALLED, "the operator says that it is not done"),
                    now,
                )
            else:
                mission.abandon(now.stamp_s, reason)

        text = f'Is "{task.planned.text}" done, yes or no? {reason}'
        self._ask(text, self._config.ask_patience_s, answered, now, YES_OR_NO)
