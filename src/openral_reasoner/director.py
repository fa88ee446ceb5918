"""The director: carries a mission through its tasks. Without ROS, threads or clocks of its own.

Events come in (prompt, palette, reading, goal answers, ticks), commands go out (`Command`). The ladder for
one task: verified success -> next task; stalled, deadline, failure or lost skill -> another attempt ->
abandoned, and the mission has failed; nobody could verify -> abandoned at once, never called a success. At
most one goal is in flight; the next one is sent when the last has ended.
"""

from __future__ import annotations

from collections.abc import Callable

from openral_reasoner.attempt import Attempt, CancelGoal, Command, DirectorConfig, Propose, SendGoal
from openral_reasoner.decisions import Decisions
from openral_reasoner.gate import GateConfig, Judgement, Reading, Verdict
from openral_reasoner.mission import LogEntry, Mission, MissionState, TaskState
from openral_reasoner.palette import Palette, Skill
from openral_reasoner.planner import Plan, PlannedTask, Proposal
from openral_reasoner.vocabulary import words

STOP_WORDS = frozenset({"stop", "halt", "abort", "freeze", "cancel", "quit"})
_STOP_COMPANY = frozenset(
    {"now", "please", "immediately", "everything", "it", "that", "the", "mission", "robot"}
)


def is_stop(text: str) -> bool:
    """Whether a prompt only says to stop: "Stop!", "please stop now"."""
    said = set(words(text))
    return bool(said & STOP_WORDS) and said <= STOP_WORDS | _STOP_COMPANY


class Director:
    """Holds one mission at a time. Not thread-safe: call it from one thread.

    Every method that may cause commands returns them, in their order. `now_s` is the node's clock, `wall_s`
    monotonic time.
    """

    def __init__(
        self,
        log: Callable[[LogEntry], None],
        *,
        gate: GateConfig | None = None,
        config: DirectorConfig | None = None,
    ) -> None:
        self._log = log
        self._gate = gate or GateConfig()
        self._config = config or DirectorConfig()
        self._palette = Palette()
        self._palette_wall_s = 0.0
        self._attempt: Attempt | None = None
        self._seen: set[str] = set()
        self._keys = 0
        self._ticket = 0
        self._proposed = False
        self._waiting_since_wall_s = 0.0
        self._bridge_wall_s = 0.0
        self._decisions = Decisions(self._config.condition_patience_s)
        self._estopped = False
        self.mission = Mission("", "", log)

    @property
    def idle(self) -> bool:
        """No goal in flight, and no mission in work."""
        return self._attempt is None and self.mission.state is not MissionState.ACTIVE

    # -- the operator ------------------------------------------------------------------------------

    def prompt(self, prompt_id: str, text: str, now_s: float, wall_s: float) -> list[Command]:
        """Words from the operator: a mission in place of the running one, or "stop"; a known id is ignored."""
        if prompt_id in self._seen:
            return []
        self._seen.add(prompt_id)
        running = self.mission.state is MissionState.ACTIVE
        if is_stop(text):
            if running:
                return self._halt(f'stopped: the operator said "{text.strip()}"', now_s, wall_s)
            self.mission = Mission(prompt_id, text, self._log)
            self.mission.end(MissionState.STOPPED, now_s, "there is nothing to stop")
            return []
        commands = self._halt(f'replaced by "{text.strip()}"', now_s, wall_s) if running else []
        self.mission = Mission(prompt_id, text, self._log, MissionState.ACTIVE)
        self.mission.say(now_s, "prompt", f'"{text.strip()}"')
        self._proposed = False
        self._decisions.forget()
        self._waiting_since_wall_s = wall_s
        if self._estopped:
            self.mission.end(
                MissionState.FAILED, now_s, "the E-stop is latched; reset it with /openral/estop_reset"
            )
        return [*commands, *self.tick(now_s, wall_s)]

    def estop(self, pressed: bool, now_s: float, wall_s: float) -> list[Command]:
        """The E-stop was pressed or reset. Pressing it ends the mission."""
        fresh = pressed and not self._estopped
        self._estopped = pressed
        if fresh and self.mission.state is MissionState.ACTIVE:
            return self._halt("stopped: the E-stop was pressed", now_s, wall_s)
        return []

    def _halt(self, reason: str, now_s: float, wall_s: float) -> list[Command]:
        self.mission.end(MissionState.STOPPED, now_s, reason)
        return self._cancel(Judgement(Verdict.RUNNING, reason), wall_s)

    # -- the plan ----------------------------------------------------------------------------------

    def palette(self, palette: Palette, wall_s: float) -> None:
        """The usable skills changed."""
        if palette != self._palette:
            self._palette = palette
            self._palette_wall_s = wall_s

    def planned(self, ticket: int, result: Proposal, now_s: float, wall_s: float) -> list[Command]:
        """The planner's answer to the `Propose` of that ticket; an answer to an older one is ignored."""
        if ticket != self._ticket or not self._proposed or self.mission.state is not MissionState.ACTIVE:
            return []
        if not isinstance(result, Plan):
            self.mission.end(MissionState.FAILED, now_s, result.sentence)
            return []
        self.mission.adopt(result, now_s)
        self._waiting_since_wall_s = wall_s
        return self.tick(now_s, wall_s)

    # -- an agent in place of a plan ---------------------------------------------------------------

    def steered(self, ticket: int, who: str, now_s: float) -> bool:
        """An agent took the `Propose` of that ticket: it will add tasks and end the mission.

        Returns:
            Whether the ticket still counts.
        """
        if ticket != self._ticket or self.mission.state is not MissionState.ACTIVE:
            return False
        self.mission.open_ended = True
        self.mission.say(now_s, "model", f"{who} plans step by step")
        return True

    def agent_failed(self, ticket: int, reason: str, now_s: float) -> bool:
        """The agent of that ticket broke down. True: nothing was run yet, another planner may take the ticket."""
        if ticket != self._ticket or self.mission.state is not MissionState.ACTIVE:
            return False
        self.mission.say(now_s, "model", reason)
        if self.mission.tasks:
            self.mission.end(MissionState.FAILED, now_s, f"the language model failed: {reason}")
            return False
        self.mission.open_ended = False
        return True

    def find_skill(self, name: str) -> Skill | None:
        """The skill of that name, if it may be used now."""
        return self._palette.find(name)

    def add_task(self, planned: PlannedTask, now_s: float, wall_s: float) -> list[Command]:
        """Add a task to an open-ended mission and begin it."""
        self.mission.append(planned, now_s)
        self._waiting_since_wall_s = wall_s
        return self.tick(now_s, wall_s)

    def finish(self, done: bool, words: str, now_s: float) -> None:
        """The agent says that the mission is over."""
        self.mission.finish(done, words, now_s)

    def _propose(self, now_s: float, wall_s: float) -> list[Command]:
        settled = wall_s - self._palette_wall_s >= self._config.palette_settle_s
        if self._palette.skills and settled:
            self._proposed = True
            self._ticket += 1
            return [Propose(self._ticket, self.mission.text, self._palette)]
        if wall_s - self._waiting_since_wall_s > self._config.palette_patience_s:
            why = "; ".join(f"{name}: {reason}" for name, reason in self._palette.excluded.items())
            found = f"not usable: {why}" if why else "no policy node announced itself on /openral/skills"
            self.mission.end(
                MissionState.FAILED,
                now_s,
                f"no skill is ready after {self._config.palette_patience_s:.0f} s ({found})",
            )
        return []

    # -- the attempt -------------------------------------------------------------------------------

    def tick(self, now_s: float, wall_s: float) -> list[Command]:
        """Look at the time: call it often (10 Hz), on wall time."""
        attempt = self._attempt
        if attempt is not None:
            return self._watch(attempt, now_s, wall_s)
        if self.mission.state is not MissionState.ACTIVE:
            return []
        if not self._proposed:
            return self._propose(now_s, wall_s)
        undecided = self._decisions.due(self.mission, now_s, wall_s)
        if undecided is not None:
            return list(undecided)
        return self._start(now_s, wall_s) if self.mission.current else []

    def found_out(self, key: int, holds: bool | None, why: str, now_s: float, wall_s: float) -> list[Command]:
        """The answer to the `AskWorld` of that key; None: nobody can tell."""
        if self.mission.state is not MissionState.ACTIVE:
            return []
        self._decisions.found_out(self.mission, key, holds, why, now_s, wall_s)
        self._waiting_since_wall_s = wall_s
        return self.tick(now_s, wall_s)

    def _start(self, now_s: float, wall_s: float) -> list[Command]:
        planned = self.mission.tasks[self.mission.active_task].planned
        skill = self._palette.find(planned.skill.name)
        if skill is None:
            if wall_s - self._waiting_since_wall_s > self._config.comeback_patience_s:
                reason = (
                    f"{planned.skill.node} did not come back within {self._config.comeback_patience_s:.0f} s"
                )
                self.mission.abandon(now_s, reason)
            return []
        task = self.mission.attempt(now_s)
        self._keys += 1
        deadline_s = skill.max_execution_s or self._config.default_deadline_s
        self._attempt = Attempt(self._keys, skill, now_s, deadline_s, wall_s)
        self._bridge_wall_s = wall_s
        words_sent = f'{skill.name} is asked to "{planned.instruction}"'
        self.mission.say(
            now_s, "attempt", f"attempt {task.attempts}: {words_sent}, within {deadline_s:.1f} s"
        )
        return [SendGoal(self._keys, skill, planned.instruction, planned.skill_task, deadline_s)]

    def _watch(self, attempt: Attempt, now_s: float, wall_s: float) -> list[Command]:
        patience = self._config.answer_patience_s
        if attempt.ending is not None:
            if wall_s - attempt.cancelled_wall_s > patience:
                self.mission.say(now_s, "silent", f"{attempt.skill.node} did not answer the cancellation")
                self._settle(attempt, attempt.ending, now_s, wall_s)
            return []
        if not attempt.goal_id:
            if wall_s - attempt.sent_wall_s > patience:
                return self._fail(
                    f"{attempt.skill.node} did not answer the goal within {patience:.0f} s", wall_s
                )
            return []
        if wall_s - self._bridge_wall_s > self._config.bridge_patience_s:
            silent = f"the bridge sent no /openral/control_status for {self._config.bridge_patience_s:.0f} s"
            return self._fail(silent, wall_s)
        return self._judge(attempt, now_s, wall_s)

    def _judge(self, attempt: Attempt, now_s: float, wall_s: float) -> list[Command]:
        judgement = attempt.judge(now_s, self._gate)
        if judgement.verdict is Verdict.ABSTAINED and not attempt.abstaining and attempt.readings:
            self.mission.say(now_s, "abstained", judgement.reason)
        attempt.abstaining = judgement.verdict is Verdict.ABSTAINED
        if judgement.verdict in (Verdict.RUNNING, Verdict.ABSTAINED):
            return []
        self.mission.say(now_s, "verdict", f"{judgement.verdict.value}: {judgement.reason}")
        return self._cancel(judgement, wall_s)

    def _fail(self, reason: str, wall_s: float) -> list[Command]:
        return self._cancel(Judgement(Verdict.STALLED, reason), wall_s)

    def _cancel(self, judgement: Judgement, wall_s: float) -> list[Command]:
        attempt = self._attempt
        if attempt is None or attempt.ending is not None:
            return []
        attempt.ending = judgement
        attempt.cancelled_wall_s = wall_s
        task = self.mission.current
        if task:
            task.state = TaskState.VERIFYING
        return [CancelGoal(attempt.key)]

    def reading(self, goal_id: str, reading: Reading, now_s: float) -> None:
        """A reading of the reward monitor; one for another goal, or one that is no number, is ignored."""
        attempt, task = self._attempt, self.mission.current
        if (
            attempt is None
            or task is None
            or goal_id != attempt.goal_id
            or attempt.ending
            or not reading.valid
        ):
            return
        if attempt.readings and reading.stamp_s <= attempt.readings[-1].stamp_s:
            return  # the same frame once more tells nothing new
        attempt.readings.append(reading)
        task.progress, task.success = reading.progress, reading.success
        above = not reading.abstained and reading.score >= self._gate.success_threshold
        task.state = TaskState.VERIFYING if above else TaskState.ACTIVE
        self.mission.say(now_s, "reading", f"progress {reading.progress:.2f}, success {reading.success:.2f}")

    def bridge_alive(self, wall_s: float) -> None:
        """The bridge said something."""
        self._bridge_wall_s = wall_s

    # -- answers of the policy node ----------------------------------------------------------------

    def goal_answered(
        self, key: int, goal_id: str, accepted: bool, now_s: float, wall_s: float
    ) -> list[Command]:
        """The policy node took the goal, or refused it."""
        attempt = self._attempt
        if attempt is None or attempt.key != key:
            return [CancelGoal(key)] if accepted else []  # a late yes to a goal that was given up
        if not accepted:
            reason = f"{attempt.skill.node} refused the goal"
            self._settle(attempt, attempt.ending or Judgement(Verdict.STALLED, reason), now_s, wall_s)
            return []
        attempt.goal_id = goal_id
        attempt.started_s = now_s
        return [CancelGoal(key)] if attempt.ending else []

    def goal_ended(
        self, key: int, outcome: str, check: str, message: str, now_s: float, wall_s: float
    ) -> None:
        """The goal is over: outcome, deciding check and message as in ExecuteSkill's result."""
        attempt = self._attempt
        if attempt is None or attempt.key != key:
            return
        if attempt.ending is None:
            attempt.ending = attempt.judge_own_end(
                outcome, f"{check}: {message}".rstrip(": "), now_s, self._gate
            )
            self.mission.say(now_s, "verdict", f"{attempt.ending.verdict.value}: {attempt.ending.reason}")
        self._settle(attempt, attempt.ending, now_s, wall_s)

    def skill_lost(self, name: str, reason: str, now_s: float, wall_s: float) -> None:
        """The policy node of that skill is gone; a goal it held will never be answered."""
        attempt = self._attempt
        if attempt is not None and attempt.skill.name == name:
            self._settle(attempt, attempt.ending or Judgement(Verdict.STALLED, reason), now_s, wall_s)

    def _settle(self, attempt: Attempt, judgement: Judgement, now_s: float, wall_s: float) -> None:
        """The goal is out of the way: climb the ladder."""
        self._attempt = None
        self._waiting_since_wall_s = wall_s
        task = self.mission.current
        if self.mission.state is not MissionState.ACTIVE or task is None or task.state is TaskState.PENDING:
            return  # the attempt belonged to a mission that was stopped or replaced
        if judgement.verdict is Verdict.SUCCEEDED:
            self.mission.complete(now_s, judgement.reason)
        elif judgement.verdict is Verdict.UNVERIFIED:
            self.mission.abandon(now_s, f"it could not be verified: {judgement.reason}")
        elif task.attempts >= self._config.max_attempts:
            self.mission.abandon(now_s, judgement.reason)
        else:
            self.mission.say(
                now_s, "retry", f"attempt {task.attempts} failed: {judgement.reason}; trying again"
            )
