"""The director: carries a mission through its tasks. It has no ROS, no threads and no clock of its own.

Its methods take events (a prompt, a palette, a reading, an answer to a goal, a tick) and return commands (`Command`). A
verified success leads to the next task, any other end of an attempt to the next rung of the ladder (`ladder.rungs`); an
attempt that nobody could verify is never called a success. At most one goal is active: the next one is sent after it
has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from openral_core.cli.printable import plain_line
from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_core.scene import Resume
from openral_core.stop_conditions import FingerTravel
from openral_reasoner.condition import Condition
from openral_reasoner.mission.attempt import Command, DirectorConfig, StopSkills
from openral_reasoner.mission.branching import Branching
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.mission.mission import LogEntry, Mission, MissionState
from openral_reasoner.mission.next_order import NextOrder
from openral_reasoner.mission.open_question import OpenQuestion
from openral_reasoner.mission.plan_requests import PlanRequests
from openral_reasoner.mission.question import YES_OR_NO, Answered, ask_which
from openral_reasoner.mission.resume import KEY, Resumption
from openral_reasoner.mission.stepwise_planning import StepwisePlanning
from openral_reasoner.mission.stopping.halting import Halting
from openral_reasoner.mission.stopping.stop_words import Heard, heard
from openral_reasoner.mission.task_runner import TaskRunner
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Ask, Plan, Proposal
from openral_reasoner.prompt_checks import MAX_ID, SeenIds, why_refused
from openral_reasoner.word_stems import MAX_CHARACTERS

LATCHED_ESTOP = "the E-stop is latched; reset it with the service estop_reset"


class Director:
    """Holds one mission at a time. Not thread-safe: call it from one thread.

    Every method that may cause commands returns them, in the order in which they are to be carried out. `now_s` is a
    time [s] on the node's clock.
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
            log: called with each step of the mission log.
            gate: thresholds of the reward monitor, at which an attempt counts as done or as stalled.
            config: limits and time-outs.
            experience: counts of how often each rung of the ladder worked; None: none are read or written.
            fingers: opening of the robot's fingers, empty and closed; None: what they hold is not checked.
            awaits_policies: the deployment has policies, so nothing is planned while there are motions alone.
        """
        self._log, self._config = log, config or DirectorConfig()
        self._seen = SeenIds()
        self._open_question = OpenQuestion(lambda: self.mission)
        self._plan_requests = PlanRequests(self._config, awaits_policies=awaits_policies)
        self._next = NextOrder(self._plan_requests)
        self._branching = Branching(self._config.condition_patience_s)
        self._halting = Halting()
        self._resumption: Resumption | None = None
        self._experience = experience or Experience()
        self._tasks = TaskRunner(
            lambda: self.mission,
            self._plan_requests,
            self.ask,
            gate=gate or ProgressThresholds(),
            config=self._config,
            experience=self._experience,
            fingers=fingers,
        )
        self._goals, self._recovery = self._tasks.goals, self._tasks.recovery
        self._verification = self._tasks.verification
        self.stepwise = StepwisePlanning(
            lambda: self.mission, self._plan_requests, self._next, self._recovery, self._experience
        )
        """What an agent may do with the missions."""
        self.estopped = False
        """Whether the E-stop is pressed."""
        self.mission: Mission = Mission("", "", log)
        self.others_move = False
        """Whether some policy node announces that it runs a goal, whoever sent it."""

    @property
    def idle(self) -> bool:
        """Whether no goal is active, no mission is in work, and no order waits to be understood."""
        return not (self._goals.busy or self._active or self._next.waits)

    @property
    def running(self) -> bool:
        """Whether a goal of the mission runs that the reward monitor judges; see `GoalTracker.running`."""
        return self._goals.running

    @property
    def accepted(self) -> tuple[str, str] | None:
        """Skill and hex UUID of the goal that a policy node accepted; see `GoalTracker.accepted`."""
        return self._goals.accepted

    @property
    def recovering(self) -> bool:
        """Whether a mission that a restart interrupted has not been resumed yet, so that nothing of it may run."""
        return self._resumption is not None and self._active

    @property
    def _active(self) -> bool:
        return self.mission.state is MissionState.ACTIVE

    # -- the operator ------------------------------------------------------------------------------

    def prompt(self, prompt_id: str, text: str, now: Instant) -> list[Command]:
        """Take words of the operator: a stop, an answer to the open question, or an order.

        Words that could mean "stop" end every motion, whoever began it, whether their id is known or not. Any other
        words are ignored if their id is known, and refused if they are too long or hold control characters. An order
        replaces the mission in work as soon as it is understood; one that is not understood is refused, and the mission
        goes on.
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
        # The motion that a "hold on" before an order may refer to must not go on.
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
        """Return whether words count as a stop at present.

        Doubtful words do while a mission is in work or anything moves. A "no" is an answer only while nothing moves.
        """
        moves = self._goals.busy or bool(self._goals.active_goal) or self.others_move
        if said is Heard.OBJECTION:
            return moves or (self._active and not self.question)
        return said is Heard.STOP or (said is Heard.STOP_AND_MORE and (moves or self._active))

    def halt(self, said: str, reason: str, sender: str, now: Instant) -> list[Command]:
        """Stop every motion, whoever began it, and end the mission.

        Args:
            said: what was said, for the mission log.
            reason: why the mission ended.
            sender: id of the prompt or mission that it is logged under.
            now: this moment.
        """
        what = "the mission and every motion end" if self._active else "no mission is running"
        self._log(LogEntry(now.stamp_s, "stop", f"{said}: {what}", sender))
        return [*self.stop_all(reason, now), self._halt(now)]

    def _halt(self, now: Instant) -> StopSkills:
        return self._halting.begin(self._goals.active_goal or "", now.wall_s)

    def _refuse(self, prompt_id: str, text: str, why: str, now: Instant) -> None:
        """Log why a prompt is no order; a mission in work goes on, else the prompt becomes one that has failed."""
        prompt_id, shown = plain_line(prompt_id, MAX_ID), plain_line(text)
        if self._active:
            self._log(LogEntry(now.stamp_s, "refused", f'"{shown}": {why}', prompt_id))
            return
        self._begin(Mission(prompt_id, shown, self._log, MissionState.ACTIVE), now.wall_s)
        self.mission.end(MissionState.FAILED, now.stamp_s, f'"{plain_line(shown, 80)}" is refused: {why}')

    def stop(self, reason: str, now: Instant, state: MissionState = MissionState.STOPPED) -> list[Command]:
        """End the mission in work, if there is one, and cancel its goal."""
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
        """Take in whether the E-stop is pressed. Pressing it ends the mission."""
        fresh = pressed and not self.estopped
        self.estopped = pressed
        return self.stop_all("stopped: the E-stop was pressed", now) if fresh else []

    def resume(self, mission: Mission, policy: Resume, now: Instant) -> list[Command]:
        """Resume a mission that was in work when an earlier process ended, as `Resumption` says."""
        self._seen.add(mission.id)
        self._begin(mission, now.wall_s)
        self._plan_requests.made = bool(mission.tasks) and not mission.open_ended
        # An agent outside has lost its mission, which nobody else ordered.
        allowed: Resume = "never" if mission.outside else policy
        self._resumption = Resumption(mission, allowed, self._config.resume_patience_s, self.ask)
        self._resumption.begin(now.stamp_s)
        return [StopSkills()]

    def _begin(self, mission: Mission, wall_s: float) -> None:
        self.mission = mission
        self._plan_requests.made = False
        self._open_question.forget()
        self._resumption = None
        self._tasks.forget()
        self._branching.forget()
        self._plan_requests.wait_anew(wall_s)

    # -- an order while a mission is in work ------------------------------------------------------------

    @property
    def waiting(self) -> Mission | None:
        """The order that waits to be understood while another mission is in work; None: there is none."""
        return self._next.mission

    def waits(self, ticket: int) -> bool:
        """Return whether the `RequestPlan` of this ticket is for the order that waits."""
        return self._next.counts(ticket)

    def understood(self, now: Instant) -> list[Command]:
        """Replace the mission in work by the order that waits; an agent that plans the order goes on with it."""
        return [*self._replace(now), *self.tick(now)]

    def _replace(self, now: Instant) -> list[Command]:
        ticket, ordered = self._next.take()
        commands: list[Command] = [self._halt(now)] if self.recovering else []  # begun by an earlier process
        commands += self.stop(f'replaced by "{plain_line(ordered.text)}"', now)
        self._begin(ordered, now.wall_s)
        if ordered.open_ended:
            self._plan_requests.adopt(ticket)
        return commands

    # -- questions ---------------------------------------------------------------------------------

    @property
    def question(self) -> str:
        """What the operator is asked; empty: nothing."""
        return self._open_question.text

    def ask(
        self,
        text: str,
        patience_s: float,
        answered: Answered,
        now: Instant,
        options: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """Ask the operator; a later tick calls `answered`, see `OpenQuestion.ask`."""
        self._open_question.ask(text, patience_s, answered, now, options)

    def operator_says(self, text: str) -> bool:
        """Take words as the answer to the open question; return False where none is open or they do not answer it."""
        return self._open_question.take(text)

    # -- the plan ----------------------------------------------------------------------------------

    def palette(self, palette: Palette, wall_s: float) -> None:
        """Take the skills that may be used from now on."""
        self._plan_requests.take(palette, wall_s)

    def planned(self, ticket: int, result: Proposal, now: Instant) -> list[Command]:
        """Take the planner's answer to the `RequestPlan` of a ticket; an answer to an older one is ignored."""
        if self.waits(ticket):
            if not isinstance(result, Plan):
                self._next.end("refused", result.sentence, now)
                return []
            commands = self._replace(now)
            self._plan_requests.outdate()
            self.mission.adopt(result, now.stamp_s)
            return [*commands, *self.tick(now)]
        if not (self._plan_requests.counts(ticket) and self._plan_requests.made and self._active):
            return []
        self._plan_requests.wait_anew(now.wall_s)
        if self._recovery.waits:
            self._recovery.planned(self.mission, result, now)
        elif isinstance(result, Plan):
            self.mission.adopt(result, now.stamp_s)
        elif isinstance(result, Ask) and self._config.ask_patience_s > 0:
            ask_which(self.mission, result, self._config.ask_patience_s, self.ask, now)
        else:
            self.mission.end(MissionState.FAILED, now.stamp_s, result.sentence)
        return self.tick(now)

    def steered_from_outside(self, mission_id: str, text: str, now: Instant) -> str:
        """Begin an open-ended mission for an agent outside the reasoner; return why it gets none, empty: it has it."""
        if self.estopped or self._active:
            busy = f'a mission is in work: "{plain_line(self.mission.text)}"; wait for its end, or stop it'
            return LATCHED_ESTOP if self.estopped else busy
        held = Mission(mission_id, text, self._log, MissionState.ACTIVE, open_ended=True, outside=True)
        self._begin(held, now.wall_s)
        self._plan_requests.outdate()
        self.mission.say(now.stamp_s, "prompt", text)
        return ""

    # -- the tasks ---------------------------------------------------------------------------------

    def tick(self, now: Instant) -> list[Command]:
        """Carry on: call it about ten times a second of wall time, since all time-outs are looked at here."""
        commands: list[Command] = list(self._next.due(now))
        while (due := self._due(now)) is None:
            pass  # something else may have waited for what was settled
        return [*commands, *due]

    def _due(self, now: Instant) -> list[Command] | None:
        """Return the commands that are due now; None: something was settled, so look again."""
        unfinished = self._halting.due(self._goals.active_goal or "", now.wall_s)
        if self._active and self._open_question.hear(now):  # an agent may ask while a skill runs
            self._plan_requests.wait_anew(now.wall_s)
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
        if self._open_question.waits:
            return []
        if self._verification.waits:
            return self._tasks.verify(now)
        if not self._plan_requests.made and not self._next.waits:
            return list(self._plan_requests.plan(self.mission, now))
        if not self._plan_requests.made:
            return []  # the order that waits may replace this mission, of which nothing has begun
        if self._recovery.waits:
            return list(self._plan_requests.part(self._recovery.take_wanted()))
        undecided = self._branching.due(self.mission, now)
        if undecided is not None:
            return list(undecided)
        return self._tasks.start(now) if self.mission.current else []

    def _take_up(self, resumption: Resumption, now: Instant) -> list[Command] | None:
        """Go on with a resumption; return its commands, or None once the mission goes on."""
        ready = partial(self._plan_requests.ready, self.mission, now)
        unsettled = resumption.step(now, ready, self._goals.active_goal)
        if unsettled is None:
            self._resumption = None
            self._plan_requests.wait_anew(now.wall_s)
        return unsettled

    def found(
        self, key: int, point: tuple[float, float, float] | None, why: str, now: Instant
    ) -> list[Command]:
        """Take the answer to the `FindThing` of a key: a point [m] in the world frame; None: it was not found."""
        return self.tick(now) if self._tasks.found(key, point, why) else []

    def found_out(self, key: int, holds: bool | None, why: str, now: Instant) -> list[Command]:
        """Take the answer to the `AskWorld` of a key; None: the monitor cannot tell, so the operator is asked."""
        if not self._active:
            return []
        self._plan_requests.wait_anew(now.wall_s)
        doubt = self._branching.condition_of(key)
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
            self._branching.found_out(self.mission, key, holds, why, now)
        return self.tick(now)

    def _ask_whether(self, condition: Condition, key: int, why: str, now: Instant) -> None:
        def answered(choice: str | None, now: Instant) -> None:
            holds = None if choice is None else (choice == "yes") is not condition.negated
            answerer = "nobody answered" if choice is None else "the operator says so"
            self._branching.found_out(self.mission, key, holds, f"{why}; {answerer}", now)

        self.ask(condition.question, self._config.ask_patience_s, answered, now, YES_OR_NO)

    # -- what the neighbours say -------------------------------------------------------------------

    def reading(self, goal_id: str, reading: ProgressReading, now_s: float) -> None:
        """Take a reading of the reward monitor; one of another goal, or one that is not finite, is ignored."""
        self._goals.reading(goal_id, reading, now_s)

    def monitor(self, silent: bool, there: bool) -> None:
        """Take in whether readings of the running goal are overdue, and whether a reward monitor is in the graph."""
        self._verification.monitor(silent, there)

    def perception(self, can_locate: bool) -> None:
        """Take in whether the service that locates things is there."""
        self._recovery.can_locate = can_locate
        self._verification.perception(can_locate)

    def bridge_alive(self, wall_s: float, active_goal: str = "") -> None:
        """Take in that the bridge is alive, and the hex UUID of the goal that it executes, empty for none."""
        self._goals.bridge_says(active_goal, wall_s)

    def intervention(self, operator: str, now: Instant) -> None:
        """Take in who has taken the arm over; empty: nobody.

        While somebody has, the times of attempt and mission do not run on, and readings of the reward monitor are
        ignored.
        """
        pause_s = self._goals.intervention(operator, now)
        if pause_s is None:
            return
        self.mission.postpone(pause_s)
        if self._active:
            words = f"{operator} has taken the arm over; the clocks stand still"
            back = f"the arm was given back after {pause_s:.1f} s; the attempt goes on"
            self.mission.say(now.stamp_s, "intervention", words if operator else back)

    def arm_refuses(self, why: str, now: Instant) -> list[Command]:
        """End a mission whose goal runs while the arm takes no commands, and why it does not; empty: it does."""
        words = f"stopped: the arm takes no commands ({why}); clear that, then call the service recover"
        return self.stop_all(words, now) if why and self._goals.busy and not self._goals.paused else []

    def goal_answered(self, key: int, goal_id: str, accepted: bool, now: Instant) -> list[Command]:
        """Take in whether a policy node accepted a goal, and the goal's hex UUID."""
        return self._goals.answered(key, goal_id, accepted, now)

    def goal_ended(self, key: int, report: GoalReport, now: Instant) -> None:
        """Take in how a goal ended."""
        self._goals.ended(key, report, now)

    def skill_lost(self, name: str, reason: str, now: Instant) -> None:
        """Take in that the policy node of a skill is gone: a goal of it has ended without a result."""
        self._goals.skill_lost(name, reason, now)
