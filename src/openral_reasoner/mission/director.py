"""The director: carries a mission through its tasks. Without ROS, threads or clocks of its own.

Events come in (prompt, palette, reading, goal answers, ticks), commands go out (`Command`). A verified success leads
to the next task, anything else to the next rung of the ladder (`ladder.rungs`); what nobody could verify
is never called a success. At most one goal is in flight; the next one is sent when the last has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_core.scene import Resume
from openral_core.stop_conditions import FingerTravel
from openral_reasoner.condition import Condition
from openral_reasoner.mission.attempt import Command, DirectorConfig, StopSkills
from openral_reasoner.mission.branching import Decisions
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.halting import Halting
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState, Task
from openral_reasoner.mission.next_order import NextOrder
from openral_reasoner.mission.open_question import Questions
from openral_reasoner.mission.plan_requests import Proposals
from openral_reasoner.mission.question import YES_OR_NO, Answered, ask_which
from openral_reasoner.mission.resume import KEY, Resumption
from openral_reasoner.mission.stop_words import Heard, heard
from openral_reasoner.mission.task_runner import TaskRunner
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import Palette, Skill
from openral_reasoner.plain_line import plain_line
from openral_reasoner.planner import Ask, Plan, PlannedTask, Proposal
from openral_reasoner.prompt_checks import MAX_ID, SeenIds, why_refused
from openral_reasoner.word_stems import MAX_CHARACTERS

LATCHED_ESTOP = "the E-stop is latched; reset it with the service estop_reset"


class Director:
    """Holds one mission at a time. Not thread-safe: call it from one thread.

    Every method that may cause commands returns them, in their order. `now_s` is the node's clock.
    """

    def __init__(
        self,
        log: Callable[[LogEntry], None],
        *,
        gate: ProgressThresholds | None = None,
        config: DirectorConfig | None = None,
        experience: Experience | None = None,
        fingers: FingerTravel | None = None,
        awaits_policies: bool = False,
    ) -> None:
        """Begin without a mission.

        Args:
            log: takes every step.
            gate: when an attempt is done, or stands still.
            config: how patient the director is.
            experience: what the rungs of the ladder were worth before; None: nothing is known or kept.
            fingers: how far the robot's fingers go; None: what they hold is not looked at.
            awaits_policies: motions alone are no palette to plan with; policies are still to come.
        """
        self._log, self._config = log, config or DirectorConfig()
        self._seen = SeenIds()
        self._questions = Questions(lambda: self.mission)
        self._proposals = Proposals(self._config, awaits_policies=awaits_policies)
        self._next = NextOrder(self._proposals)
        self._decisions = Decisions(self._config.condition_patience_s)
        self._halting = Halting()
        self._resumption: Resumption | None = None
        self._experience = experience or Experience()
        self._tasks = TaskRunner(
            lambda: self.mission,
            self._proposals,
            self.ask,
            gate=gate or ProgressThresholds(),
            config=self._config,
            experience=self._experience,
            fingers=fingers,
        )
        self._goals, self._recovery = self._tasks.goals, self._tasks.recovery
        self._verification = self._tasks.verification
        self.estopped = False
        """The E-stop is pressed."""
        self.mission: Mission = Mission("", "", log)
        self.others_move = False
        """A policy node announces that it runs a goal."""

    @property
    def idle(self) -> bool:
        """No goal in flight, no mission in work, and no order that waits to be understood."""
        return not (self._goals.busy or self._active or self._next.waits)

    @property
    def running(self) -> bool:
        """A goal of the mission runs."""
        return self._goals.running

    @property
    def recovering(self) -> bool:
        """A mission that a restart broke off is not yet going on: nothing may run that was begun before."""
        return self._resumption is not None and self._active

    @property
    def _active(self) -> bool:
        return self.mission.state is MissionState.ACTIVE

    # -- the operator ------------------------------------------------------------------------------

    def prompt(self, prompt_id: str, text: str, now: Instant) -> list[Command]:
        """Words from the operator: a stop, an answer, or an order.

        What could mean "stop" ends every motion, whoever began it, and leaves a mission that has ended as it is. Any
        other words are ignored if their id is known, and refused if they are too long or hold control characters.
        An order takes the place of the mission in work as soon as it is understood; one that is not is refused,
        and the mission goes on.
        """
        said, fresh = heard(text), self._seen.add(prompt_id)
        if self._is_stop(said):
            shown = f'"{plain_line(text)}"'
            return self.halt(shown, f"stopped: the operator said {shown}", prompt_id[:MAX_ID], now)
        if not fresh:
            return []
        refusal = why_refused(prompt_id, text)
        if not refusal and self.operator_says(text):
            return self.tick(now)
        if not refusal and said is Heard.GO_ON:
            refusal = "it says not to stop, which orders nothing; say what to do"
        if refusal:
            self._refuse(prompt_id, text, refusal, now)
            return []
        ordered = Mission(prompt_id, text, self._log, MissionState.ACTIVE)
        # What might be meant by a "hold on" before an order must not go on.
        commands: list[Command] = [self._halt(now)] if said is Heard.STOP_AND_MORE else []
        if self._active:
            self._next.end("refused", f'"{plain_line(text)}" was said before it was understood', now)
            self._next.wait(ordered)
        else:
            self._begin(ordered, now.wall_s)
        ordered.say(now.stamp_s, "prompt", f'"{plain_line(text, MAX_CHARACTERS)}"')
        if self.estopped:
            self.mission.end(MissionState.FAILED, now.stamp_s, LATCHED_ESTOP)
        return [*commands, *self.tick(now)]

    def _is_stop(self, said: Heard) -> bool:
        """Whether words are a stop now: in doubt they are while anything goes on, and no answer while it moves."""
        moves = self._goals.busy or bool(self._goals.active_goal) or self.others_move
        if said is Heard.OBJECTION:
            return moves or (self._active and not self.question)
        return said is Heard.STOP or (said is Heard.STOP_AND_MORE and (moves or self._active))

    def halt(self, said: str, reason: str, sender: str, now: Instant) -> list[Command]:
        """End every motion, whoever began it, and the mission for a reason; `said` and a sender's id are logged."""
        what = "the mission and every motion end" if self._active else "no mission is running"
        self._log(LogEntry(now.stamp_s, "stop", f"{said}: {what}", sender))
        return [*self.stop_all(reason, now), self._halt(now)]

    def _halt(self, now: Instant) -> StopSkills:
        return self._halting.begin(self._goals.active_goal or "", now.wall_s)

    def _refuse(self, prompt_id: str, text: str, why: str, now: Instant) -> None:
        """Say why a prompt is no order; a mission that is in work goes on."""
        prompt_id, shown = plain_line(prompt_id, MAX_ID), plain_line(text)
        if self._active:
            self._log(LogEntry(now.stamp_s, "refused", f'"{shown}": {why}', prompt_id))
            return
        self._begin(Mission(prompt_id, shown, self._log, MissionState.ACTIVE), now.wall_s)
        self.mission.end(MissionState.FAILED, now.stamp_s, f'"{plain_line(shown, 80)}" is refused: {why}')

    def stop(self, reason: str, now: Instant, state: MissionState = MissionState.STOPPED) -> list[Command]:
        """End the mission, if one is in work."""
        if not self._active:
            return []
        self.mission.end(state, now.stamp_s, reason)
        return self._goals.cancel(Judgement(GateVerdict.RUNNING, reason), now.wall_s)

    def stop_all(
        self, reason: str, now: Instant, state: MissionState = MissionState.STOPPED
    ) -> list[Command]:
        """End the mission, if one is in work, and refuse the order that waits to be understood."""
        self._next.end("refused", reason, now)
        return self.stop(reason, now, state)

    def estop(self, pressed: bool, now: Instant) -> list[Command]:
        """The E-stop was pressed or reset. Pressing it ends the mission."""
        fresh = pressed and not self.estopped
        self.estopped = pressed
        return self.stop_all("stopped: the E-stop was pressed", now) if fresh else []

    def resume(self, mission: Mission, policy: Resume, now: Instant) -> list[Command]:
        """Take up a mission that was in work when an earlier process ended; see `Resumption`."""
        self._seen.add(mission.id)
        self._begin(mission, now.wall_s)
        self._proposals.made = bool(mission.tasks) and not mission.open_ended
        leave = (
            "never" if mission.outside else policy
        )  # its agent has lost it, and nobody else gave the order
        self._resumption = Resumption(mission, leave, self._config.resume_patience_s, self.ask)
        self._resumption.begin(now.stamp_s)
        return [StopSkills()]

    def _begin(self, mission: Mission, wall_s: float) -> None:
        self.mission = mission
        self._proposals.made = False
        self._questions.forget()
        self._resumption = None
        self._tasks.forget()
        self._decisions.forget()
        self._proposals.wait_anew(wall_s)

    # -- an order while a mission is in work ------------------------------------------------------------

    @property
    def waiting(self) -> Mission | None:
        """The order that waits to be understood while another mission is in work."""
        return self._next.mission

    def waits(self, ticket: int) -> bool:
        """Whether the `Propose` of that ticket is for the order that waits."""
        return self._next.counts(ticket)

    def understood(self, now: Instant) -> list[Command]:
        """The order that waits is one, and takes the place of the mission in work; an agent that has it keeps it."""
        return [*self._replace(now), *self.tick(now)]

    def _replace(self, now: Instant) -> list[Command]:
        ticket, ordered = self._next.take()
        commands: list[Command] = [self._halt(now)] if self.recovering else []  # begun by an earlier process
        commands += self.stop(f'replaced by "{plain_line(ordered.text)}"', now)
        self._begin(ordered, now.wall_s)
        if ordered.open_ended:
            self._proposals.adopt(ticket)
        return commands

    # -- questions ---------------------------------------------------------------------------------

    @property
    def question(self) -> str:
        """What the operator is asked; empty: nothing."""
        return self._questions.text

    def ask(
        self,
        text: str,
        patience_s: float,
        answered: Answered,
        now: Instant,
        options: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """Ask the operator; the answer, or None after `patience_s` [s], is told at a later tick."""
        self._questions.ask(text, patience_s, answered, now, options)

    def operator_says(self, text: str) -> bool:
        """Take words as the answer to the open question; False if none is open, or they are none of its answers."""
        return self._questions.take(text)

    # -- the plan ----------------------------------------------------------------------------------

    def palette(self, palette: Palette, wall_s: float) -> None:
        """The usable skills changed."""
        self._proposals.take(palette, wall_s)

    def planned(self, ticket: int, result: Proposal, now: Instant) -> list[Command]:
        """The planner's answer to the `Propose` of that ticket; an answer to an older one is ignored."""
        if self.waits(ticket):
            if not isinstance(result, Plan):
                self._next.end("refused", result.sentence, now)
                return []
            commands = self._replace(now)
            self._proposals.outdate()
            self.mission.adopt(result, now.stamp_s)
            return [*commands, *self.tick(now)]
        if not (self._proposals.counts(ticket) and self._proposals.made and self._active):
            return []
        self._proposals.wait_anew(now.wall_s)
        if self._recovery.waits:
            self._recovery.planned(self.mission, result, now)
        elif isinstance(result, Plan):
            self.mission.adopt(result, now.stamp_s)
        elif isinstance(result, Ask) and self._config.ask_patience_s > 0:
            ask_which(self.mission, result, self._config.ask_patience_s, self.ask, now)
        else:
            self.mission.end(MissionState.FAILED, now.stamp_s, result.sentence)
        return self.tick(now)

    # -- an agent in place of a plan ---------------------------------------------------------------

    def steered(self, ticket: int, who: str, now_s: float) -> Mission | None:
        """An agent took the `Propose` of that ticket: it will add tasks and end the mission.

        Returns:
            The mission; None: the ticket counts no more.
        """
        mission = self._of(ticket)
        if mission is not None:
            mission.open_ended = True
            mission.say(now_s, "model", f"{who} plans step by step")
        return mission

    def agent_failed(self, ticket: int, reason: str, now_s: float) -> bool:
        """The agent of that ticket broke down. True: nothing was run yet, another planner may take the ticket."""
        mission = self._of(ticket)
        if mission is None:
            return False
        mission.say(now_s, "model", reason)
        if mission.tasks:
            mission.end(MissionState.FAILED, now_s, f"the language model failed: {reason}")
            return False
        mission.open_ended = False
        return True

    def _of(self, ticket: int) -> Mission | None:
        """The mission in work, or the order that waits, whose ticket this is; None: it counts no more."""
        if self.waits(ticket):
            return self._next.mission
        return self.mission if self._proposals.counts(ticket) and self._active else None

    def find_skill(self, name: str) -> Skill | None:
        """The skill of that name, if it may be used now."""
        return self._proposals.palette.find(name)

    def add_task(self, planned: PlannedTask, now: Instant, way: str = "") -> None:
        """Add a task to an open-ended mission, to be tried in a way of `why_not`; it begins with the next tick."""
        self.mission.append(planned, now.stamp_s, way)
        self._proposals.wait_anew(now.wall_s)

    def why_not(self, way: str, planned: PlannedTask, mission: Mission, now: Instant) -> str:
        """Why a task of a mission cannot be tried anew in a way of the ladder; empty: it can."""
        return self._recovery.why_not(way, planned, mission, self._proposals.palette, now)

    def worked_before(self, task: Task) -> Mapping[str, int]:
        """How often each way worked in earlier missions where the same ways had failed at a task as now."""
        return self._experience.worked_before(self.mission, task)

    def steered_from_outside(self, mission_id: str, text: str, now: Instant) -> str:
        """An agent outside wants a mission, to add tasks to it; return why it gets none, empty: it has it."""
        if self.estopped or self._active:
            busy = f'a mission is in work: "{plain_line(self.mission.text)}"; wait for its end, or stop it'
            return LATCHED_ESTOP if self.estopped else busy
        held = Mission(mission_id, text, self._log, MissionState.ACTIVE, open_ended=True, outside=True)
        self._begin(held, now.wall_s)
        self._proposals.outdate()
        self.mission.say(now.stamp_s, "prompt", text)
        return ""

    def finish(
        self, mission: Mission, done: bool, words: str, now: Instant, *, nothing_to_do: bool = False
    ) -> None:
        """The agent says that its mission is over; an order that waits was answered in words, or is refused."""
        if mission is self.waiting:
            self._next.end("answered" if done else "refused", words, now)
        else:
            mission.finish(done, words, now.stamp_s, nothing_to_do=nothing_to_do)

    # -- the tasks ---------------------------------------------------------------------------------

    def tick(self, now: Instant) -> list[Command]:
        """Look at the time: call it often (10 Hz), on wall time."""
        commands: list[Command] = list(self._next.due(now))
        while (due := self._due(now)) is None:
            pass  # what was settled may have been waited for
        return [*commands, *due]

    def _due(self, now: Instant) -> list[Command] | None:
        """What is to be done now; None: something was settled, and there may be more."""
        unfinished = self._halting.due(self._goals.active_goal or "", now.wall_s)
        if self._active and self._questions.hear(now):  # an agent may ask while a skill runs
            self._proposals.wait_anew(now.wall_s)
        if self._goals.busy:
            return [*(unfinished or []), *self._goals.watch(now)]
        if unfinished is not None:
            return unfinished
        if not self._active and self._next.waits:
            self._replace(now)
        if not self._active:
            return []
        if self._resumption is not None:
            return self._take_up(self._resumption, now)
        if self._questions.waits:
            return []
        if self._verification.waits:
            return self._tasks.verify(now)
        if not self._proposals.made and not self._next.waits:
            return list(self._proposals.plan(self.mission, now))
        if not self._proposals.made:
            return []  # nothing of it has begun, and its place may be taken at once
        if self._recovery.waits:
            return list(self._proposals.part(self._recovery.take_wanted()))
        undecided = self._decisions.due(self.mission, now)
        if undecided is not None:
            return list(undecided)
        return self._tasks.start(now) if self.mission.current else []

    def _take_up(self, resumption: Resumption, now: Instant) -> list[Command] | None:
        """Go on after a restart, as far as that is settled."""
        ready = partial(self._proposals.ready, self.mission, now)
        unsettled = resumption.step(now, ready, self._goals.active_goal)
        if unsettled is None:
            self._resumption = None
            self._proposals.wait_anew(now.wall_s)
        return unsettled

    def found(
        self, key: int, point: tuple[float, float, float] | None, why: str, now: Instant
    ) -> list[Command]:
        """The answer to the `FindThing` of that key: where it is, [m] in the world frame; None: it was not found."""
        return self.tick(now) if self._tasks.found(key, point, why) else []

    def found_out(self, key: int, holds: bool | None, why: str, now: Instant) -> list[Command]:
        """The answer to the `AskWorld` of that key; None: the reward monitor cannot tell, so the operator is asked."""
        if not self._active:
            return []
        self._proposals.wait_anew(now.wall_s)
        doubt = self._decisions.question(key)
        looked, judgement = self._verification.seen(key, holds, why)
        if self._resumption is not None and key == KEY:
            resumption, self._resumption = self._resumption, None
            self._tasks.judge(resumption.judge(holds, why), now)
        elif looked:
            if judgement is not None:
                self._tasks.judge(judgement, now)
        elif holds is None and doubt and self._config.ask_patience_s > 0:
            self._ask_whether(doubt, key, why, now)
        else:
            self._decisions.found_out(self.mission, key, holds, why, now)
        return self.tick(now)

    def _ask_whether(self, condition: Condition, key: int, why: str, now: Instant) -> None:
        def answered(choice: str | None, now: Instant) -> None:
            holds = None if choice is None else (choice == "yes") is not condition.negated
            answerer = "nobody answered" if choice is None else "the operator says so"
            self._decisions.found_out(self.mission, key, holds, f"{why}; {answerer}", now)

        self.ask(condition.question, self._config.ask_patience_s, answered, now, YES_OR_NO)

    # -- what the neighbours say -------------------------------------------------------------------

    def reading(self, goal_id: str, reading: ProgressReading, now_s: float) -> None:
        """A reading of the reward monitor; one for another goal, or one that is no number, is ignored."""
        self._goals.reading(goal_id, reading, now_s)

    def monitor(self, silent: bool, there: bool) -> None:
        """Whether the reward monitor owes readings of a goal that runs, and whether it is in the graph."""
        self._verification.monitor(silent, there)

    def perception(self, can_locate: bool) -> None:
        """Whether somebody answers where a thing is."""
        self._recovery.can_locate = can_locate
        self._verification.perception(can_locate)

    def bridge_alive(self, wall_s: float, active_goal: str = "") -> None:
        """The bridge said something: the hex UUID of the goal that it executes, empty for none."""
        self._goals.bridge_says(active_goal, wall_s)

    def intervention(self, operator: str, now: Instant) -> None:
        """Who has taken the arm over, in words; empty: nobody. Meanwhile the clocks of attempt and mission stand
        still, and what the reward monitor says counts for nothing."""
        pause_s = self._goals.intervention(operator, now)
        if pause_s is None:
            return
        self.mission.postpone(pause_s)
        if self._active:
            words = f"{operator} has taken the arm over; the clocks stand still"
            back = f"the arm was given back after {pause_s:.1f} s; the attempt goes on"
            self.mission.say(now.stamp_s, "intervention", words if operator else back)

    def goal_answered(self, key: int, goal_id: str, accepted: bool, now: Instant) -> list[Command]:
        """The policy node took the goal, or refused it."""
        return self._goals.answered(key, goal_id, accepted, now)

    def goal_ended(self, key: int, report: GoalReport, now: Instant) -> None:
        """The goal is over."""
        self._goals.ended(key, report, now)

    def skill_lost(self, name: str, reason: str, now: Instant) -> None:
        """The policy node of that skill is gone; a goal it held will never be answered."""
        self._goals.skill_lost(name, reason, now)
