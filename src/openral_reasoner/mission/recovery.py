"""Climbs the ladder (`recovery_steps`) for a task that failed, and logs each rung with its reason."""

from __future__ import annotations

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import DirectorConfig
from openral_reasoner.mission.gate import GateVerdict, Judgement
from openral_reasoner.mission.mission import Mission, Task
from openral_reasoner.mission.question import AFTER_FAILURE, YES_OR_NO, AskOperatorFor
from openral_reasoner.mission.recovery_steps import Rung, next_rung, others, recoveries
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan, Proposal


class Recovery:
    """What happens to the failed task of one mission. Not thread-safe."""

    def __init__(self, ask: AskOperatorFor, config: DirectorConfig) -> None:
        self._ask, self._config = ask, config
        self._rung: Rung | None = None
        self._judgement = Judgement(GateVerdict.RUNNING, "")
        self._wanted: tuple[str, Palette] | None = None
        self._palette = Palette()

    @property
    def waits(self) -> bool:
        """A planner is asked for another way; nothing is to be run before it has answered."""
        return self._rung is not None

    def forget(self) -> None:
        """Another mission begins."""
        self._rung = self._wanted = None

    def take_wanted(self) -> tuple[str, Palette] | None:
        """What a planner shall be asked now, each thing once: words of a task, and the palette for them."""
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
    ) -> None:
        """Decide about the current task of a mission after a failed attempt.

        Args:
            mission: its current task failed.
            palette: what may be used now.
            judgement: why it failed.
            now: this moment.
            lost: its skill is gone, so there is no use in trying again.
        """
        task = mission.tasks[mission.active_task]
        self._palette, self._judgement = palette, judgement
        if judgement.verdict is GateVerdict.UNVERIFIED:
            self._ask_whether_done(mission, task, now)
            return
        if lost:
            task.tries = max(task.tries, self._config.max_attempts)
        rung = next_rung(task, mission, palette, self._config)
        if rung is not Rung.RETRY and task.planned.skill.name not in task.tried:
            task.tried.append(task.planned.skill.name)
            rung = next_rung(task, mission, palette, self._config)
        self._take(rung, mission, task, now)

    def _take(self, rung: Rung, mission: Mission, task: Task, now: Instant) -> None:
        reason = self._judgement.reason
        if rung is Rung.RETRY:
            mission.say(now.stamp_s, rung.value, f"attempt {task.attempts} failed: {reason}; trying again")
        elif rung is Rung.OTHER_SKILL:
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

    def planned(self, mission: Mission, result: Proposal, now: Instant) -> None:
        """The planner's answer to what was wanted."""
        rung, self._rung = self._rung, None
        task = mission.tasks[mission.active_task]
        steps = result.tasks if isinstance(result, Plan) else ()
        if rung is Rung.OTHER_SKILL and len(steps) == 1 and steps[0].skill.name not in task.tried:
            mission.reassign(steps[0])
            mission.say(now.stamp_s, rung.value, f'{steps[0].skill.name} tries "{task.planned.text}"')
        elif rung is Rung.DECOMPOSE and len(steps) > 1:
            words = "; ".join(f'"{step.text}"' for step in steps)
            mission.say(
                now.stamp_s, rung.value, f'{len(steps)} steps in the place of "{task.planned.text}": {words}'
            )
            mission.decompose(steps)
        else:
            task.climbed.append(rung.value if rung else "")
            self._take(next_rung(task, mission, self._palette, self._config), mission, task, now)

    def _ask_what_now(self, mission: Mission, task: Task, now: Instant) -> None:
        task.climbed.append(Rung.ASK.value)
        reason = self._judgement.reason

        def answered(choice: str | None, now: Instant) -> None:
            if choice == "retry":
                task.tries = 0
                mission.say(now.stamp_s, Rung.RETRY.value, "the operator wants it tried again")
            elif choice == "skip":
                mission.leave_out(now.stamp_s, f"skipped by the operator: {reason}")
            else:
                mission.abandon(now.stamp_s, reason)

        text = f'"{task.planned.text}" failed: {reason}. Retry, skip, or give up?'
        self._ask(text, self._config.ask_patience_s, answered, now, AFTER_FAILURE)

    def _ask_whether_done(self, mission: Mission, task: Task, now: Instant) -> None:
        """Nobody saw what became of the attempt: only the operator may say that it is done."""
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
