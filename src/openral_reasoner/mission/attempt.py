"""One attempt at a task, the director's settings, and the commands that it gives."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from pydantic import BaseModel, ConfigDict, Field

from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_core.stop_conditions import StopCondition
from openral_reasoner.condition import Condition
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.mission import MAX_ATTEMPTS
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement, judge
from openral_reasoner.palette import Palette, Skill


class DirectorConfig(BaseModel):
    """Limits and time-outs of the director, in [s] unless said otherwise.

    Wall time is the monotonic clock; all other times are on the node's clock.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_attempts: int = Field(default=MAX_ATTEMPTS, ge=1)
    """Attempts at a task in one way, where each was broken off by something else than its own failure."""
    mission_time_s: float = Field(default=0.0, ge=0)
    """How long a mission may take; what is left of it decides which rungs of the ladder are possible. 0: no bound."""
    stage_height_m: float = Field(default=0.17, gt=0, le=1)
    """[m] above an object at which an attempt begins that is staged there."""
    left_out: tuple[str, ...] = ()
    """Rungs of the ladder that are not used, by their names in the mission log, such as restage."""
    max_skills: int = Field(default=3, ge=1)
    """Skills that may try the same task, one after the other."""
    max_depth: int = Field(default=2, ge=0)
    """How many levels deep a failed task may be decomposed into steps."""
    ask_patience_s: float = Field(default=0.0, ge=0)
    """Wall time the operator has for a question about a task that failed; 0: nobody is asked, it is abandoned."""
    resume_patience_s: float = Field(default=60.0, gt=0)
    """Wall time the operator has to say whether a mission that a restart broke off goes on."""
    default_deadline_s: float = Field(default=30.0, gt=0)
    """Deadline of an attempt when the skill suggests none."""
    palette_patience_s: float = Field(default=60.0, gt=0)
    """Wall time a mission waits for the first active skill."""
    palette_settle_s: float = Field(default=0.5, ge=0)
    """Wall time without a change after which the palette counts as complete."""
    comeback_patience_s: float = Field(default=10.0, gt=0)
    """Wall time a task waits for its skill to come back."""
    answer_patience_s: float = Field(default=10.0, gt=0)
    """Wall time a policy node has to answer a goal or a cancellation."""
    condition_patience_s: float = Field(default=30.0, gt=0)
    """How long a task waits for its "when …", on wall time."""
    bridge_patience_s: float = Field(default=10.0, gt=0)
    """Wall time without `control_status` in an attempt after which the bridge counts as dead."""
    heartbeat_patience_s: float = Field(default=5.0, gt=1)
    """Wall time without an announcement of an active skill, which come once a second, after which it counts as lost."""


@dataclass(frozen=True)
class RequestPlan:
    """Ask the planner for a plan; its answer goes to `Director.planned`."""

    ticket: int
    sentence: str
    palette: Palette
    part: bool = False
    """It is for one task of a mission that has its plan, and goes to the offline planner alone."""
    history: tuple[str, ...] = ()
    """What became of the mission's tasks before a restart, one line each."""
    beside: bool = False
    """It is for an order that waits beside the mission in work; see `Director.waits`."""


@dataclass(frozen=True)
class SendGoal:
    """Send an ExecuteSkill goal; what comes of it goes to `Director.goal_answered` and `Director.goal_ended`."""

    key: int
    skill: Skill
    instruction: str
    task: str
    deadline_s: float
    params_json: str = ""
    """JSON object for the skill's `goal_params_schema`; empty: none."""
    stop_when: tuple[StopCondition, ...] = ()
    """Conditions that end the goal."""
    max_steps: int = 0
    """Control steps after which it ends; 0: no such bound."""


@dataclass(frozen=True)
class CancelGoal:
    """Cancel a goal; its end goes to `Director.goal_ended`."""

    key: int


@dataclass(frozen=True)
class AskWorld:
    """Find out whether a condition holds; the answer goes to `Director.found_out`."""

    key: int
    condition: Condition


@dataclass(frozen=True)
class FindThing:
    """Find out where a thing is; the answer goes to `Director.found`."""

    key: int
    words: str


@dataclass(frozen=True)
class StopSkills:
    """Cancel every goal of every skill in the graph, whoever sent it."""

    goal: str = ""
    """Hex UUID of a goal whose remaining chunks the bridge shall drop at once; empty: cancellation is enough."""


Command = RequestPlan | SendGoal | CancelGoal | AskWorld | FindThing | StopSkills


@dataclass
class Attempt:
    """A goal that was sent and has not ended yet."""

    key: int
    skill: Skill
    started_s: float
    """[s] node clock."""
    deadline_s: float
    """[s] from the start."""
    sent_wall_s: float
    goal_id: str = ""
    """Hex UUID, empty until the goal is accepted."""
    readings: deque[ProgressReading] = field(default_factory=lambda: deque(maxlen=512))
    ending: Judgement | None = None
    """Why the goal is being cancelled; None: it is not."""
    cancelled_wall_s: float = 0.0
    abstaining: bool = False

    def judge(self, now_s: float, gate: ProgressThresholds) -> Judgement:
        """Return what the readings say while the goal runs; for a motion, that it ends by itself."""
        if self.skill.judges_itself:
            return Judgement(GateVerdict.RUNNING, f"{self.skill.name} ends by itself")
        return self._judge(now_s, self.deadline_s, gate)

    def judge_own_end(self, report: GoalReport, now_s: float, gate: ProgressThresholds) -> Judgement:
        """Return the judgement of a goal that ended without having been cancelled.

        The outcome that a policy reports is not trusted: its success counts only if the gate agrees, and what the gate
        sees as a success counts even where the deadline came first. A goal that its stop conditions or its step budget
        ended is judged as at its deadline. A motion's own outcome counts, since it measures where it arrived.
        """
        outcome, why = report.outcome, report.why
        if self.skill.judges_itself:
            verdicts = {"SUCCEEDED": GateVerdict.SUCCEEDED, "DEADLINE": GateVerdict.DEADLINE}
            return Judgement(verdicts.get(outcome, GateVerdict.STALLED), f"{self.skill.name} ended: {why}")
        judgement = self._judge(now_s, min(self.deadline_s, now_s - self.started_s), gate)
        if judgement.verdict is GateVerdict.SUCCEEDED or outcome == "DEADLINE":
            return judgement
        if report.stop:
            return self._at_its_stop(judgement, report)
        if outcome != "SUCCEEDED":
            return Judgement(GateVerdict.STALLED, f"{self.skill.name} ended: {why}", broken_off=True)
        if judgement.verdict is GateVerdict.UNVERIFIED:
            return judgement
        return Judgement(GateVerdict.STALLED, "the skill calls itself done, the reward monitor does not")

    def _at_its_stop(self, judgement: Judgement, report: GoalReport) -> Judgement:
        if judgement.verdict is GateVerdict.DEADLINE:
            return replace(judgement, reason=f"{report.stop}, at progress {self.readings[-1].progress:.2f}")
        return replace(judgement, reason=f"{report.stop}; {judgement.reason}")

    def _judge(self, now_s: float, deadline_s: float, gate: ProgressThresholds) -> Judgement:
        return judge(
            self.readings, started_s=self.started_s, now_s=now_s, deadline_s=deadline_s, thresholds=gate
        )
