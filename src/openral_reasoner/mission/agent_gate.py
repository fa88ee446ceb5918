"""The gate between an agent and the arm: every request of a language model is checked here, in code.

Whatever text the model was given, a request can only name a skill of the palette and a task of that skill. It cannot
change a limit, call a task done that the reward monitor did not see done, or go on after a stop. A refusal is a reply
that says why, so that the model can choose something else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum

from pydantic import BaseModel, ConfigDict, Field

from openral_core.cli.printable import plain_line
from openral_core.errors import ContractError
from openral_core.goal_params import check_goal_params
from openral_core.instant import Instant
from openral_reasoner.mission.agent_requests import (
    AskOperator,
    Decompose,
    Execute,
    Finish,
    Reply,
    Request,
    Say,
)
from openral_reasoner.mission.attempt import Command
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.ladder.rungs import WAYS
from openral_reasoner.mission.mission import Mission, MissionState, Task, TaskState
from openral_reasoner.mission.question import YES_OR_NO
from openral_reasoner.mission.verification.placement_check import MEASURED
from openral_reasoner.palette import MOTION, Skill
from openral_reasoner.planner import PlannedTask

Answer = Callable[[Reply], None]

MAX_INSTRUCTION = 200
"""Characters of an instruction for a policy; no policy was trained on longer ones."""
MAX_QUESTION = 600
"""Characters of the question whether a motion may run."""
MAX_STEPS = 1_000_000
"""Control steps of one goal."""


class SteeringLimits(BaseModel):
    """Limits on what an agent may do in one mission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tasks: int = Field(default=20, ge=1)
    """Tasks that it may run."""
    max_repeats: int = Field(default=2, ge=1)
    """Times in a row that it may run the same task of the same skill, each with all its attempts."""
    max_questions: int = Field(default=3, ge=0)
    """Questions to the operator."""
    question_timeout_s: float = Field(default=120.0, gt=0)
    """[s] wall time that an answer of the operator is waited for at most."""


class Approval(Enum):
    """Which motions of an agent need the operator's permission."""

    NONE = "none"
    NEXT = "next"
    """The next one, because somebody else had ended the agent's last mission."""
    EACH = "each"


class Steering:
    """Lets an agent add tasks to the director's mission. Not thread-safe: call it where the director is called."""

    def __init__(
        self,
        director: Director,
        mission: Mission,
        limits: SteeringLimits | None = None,
        *,
        who: str = "the agent",
        approval: Approval = Approval.NONE,
    ) -> None:
        """Begin with nothing of the limits used.

        Args:
            director: holds the mission.
            mission: of the agent. It may wait while another one is in work, which it replaces with its first task.
            limits: of this mission.
            who: name of the agent, for questions to the operator.
            approval: which motions need the operator's permission.
        """
        self._director, self._mission = director, mission
        self._limits = limits or SteeringLimits()
        self._who, self._approval = who, approval
        self._running: tuple[int, Answer] | None = None
        self._asked = 0
        self._has_observed = False

    def handle(self, request: Request, answer: Answer, now: Instant) -> list[Command]:
        """Carry out or refuse one request.

        Args:
            request: of the agent.
            answer: called once with the reply, now or by a later `tick`.
            now: this moment.
        """
        mission = self._mission
        if mission.state is not MissionState.ACTIVE:
            answer(Reply(False, "the mission has ended"))
            return []
        if isinstance(request, Execute):
            return self._execute(request, answer, now)
        if isinstance(request, AskOperator):
            self._ask(request, answer, now)
        elif isinstance(request, Say):
            text = plain_line(request.text)
            if text:
                mission.say(now.stamp_s, "says", text)
            answer(
                Reply(True, "said") if text else Reply(False, "refused: the text is empty; send one sentence")
            )
        elif isinstance(request, Decompose):
            steps = "; ".join(plain_line(step)[:80] for step in request.steps[: self._limits.max_tasks])
            if request.steps:
                mission.say(now.stamp_s, "steps", steps)
            noted = Reply(True, "noted; now run the steps one by one")
            answer(noted if request.steps else Reply(False, "refused: there are no steps; send at least one"))
        elif isinstance(request, Finish) and self._running is not None:
            answer(Reply(False, "a skill is running; wait for its end"))
        elif isinstance(request, Finish):
            words = plain_line(request.words)
            nothing_to_do = request.nothing_to_do and self._has_observed
            self._director.stepwise.finish(mission, request.done, words, now, nothing_to_do=nothing_to_do)
            answer(Reply(True, mission.message))
        else:
            answer(Reply(False, f"{type(request).__name__} is not for the mission"))
        return []

    def observed(self, reply: Reply) -> None:
        """Take note of a reply of a camera or of the reward monitor, if it holds an observation."""
        self._has_observed |= reply.ok and (bool(reply.image_png) or reply.reading is not None)

    def tick(self, now: Instant) -> None:
        """Reply to the agent whose task has ended."""
        if self._running is None:
            return
        index, answer = self._running
        task = self._mission.tasks[index]
        if task.state in (TaskState.DONE, TaskState.ABANDONED):
            self._running = None
            verified = task.state is TaskState.DONE
            word = "done, verified by the reward monitor" if verified else "not verified as done"
            if verified and MEASURED in task.outcome:
                word = "done, verified by the locator"
            if task.planned.skill.judges_itself:
                word = "done, as the motion measured" if verified else "not done"
            if task.ended_as_asked:
                word = "ended as asked; whether it is done was not verified"
            attempts = f"{task.attempts} attempt{'s' if task.attempts != 1 else ''}"
            message = f"{word}, after {attempts}: {task.outcome}{self._ways(task, now)}{self._left()}"
            answer(Reply(verified or task.ended_as_asked, message))

    def _ways(self, task: Task, now: Instant) -> str:
        """Return, for the reply about a failed task, by which rungs of the ladder it may be tried anew."""
        if task.state is TaskState.DONE or task.ended_as_asked or task.planned.skill.judges_itself:
            return ""
        why_not, mission = self._director.stepwise.why_not, self._mission
        faults = {rung.value: why_not(rung.value, task.planned, mission, now) for rung in WAYS}
        worked = self._director.stepwise.worked_before(task)
        possible = [
            f"{way} (worked before after the same, times: {worked[way]})" if way in worked else way
            for way, fault in faults.items()
            if not fault
        ]
        return f"; ways to try it anew: {', '.join(possible)}" if possible else ""

    def _left(self) -> str:
        """Return what is left of the limits, for the end of a reply."""
        tasks = self._limits.max_tasks - len(self._mission.tasks)
        return f" (tasks left: {tasks}, questions left: {self._limits.max_questions - self._asked})"

    def _execute(self, request: Execute, answer: Answer, now: Instant) -> list[Command]:
        planned = self._admit(request, now)
        if isinstance(planned, str):
            self._mission.say(now.stamp_s, "refused", planned)
            answer(Reply(False, f"refused: {planned}"))
            return []
        if request.why:
            self._mission.say(now.stamp_s, "reason", plain_line(request.why))
        if self._approval is Approval.NONE:
            commands = self._director.understood(now) if self._waits else []
            self._begin(planned, request.way, answer, now)
            return [*commands, *self._director.tick(now)]
        self._ask_permission(planned, request.way, answer, now)
        return []

    @property
    def _waits(self) -> bool:
        """Whether another mission is in work, since the agent has run nothing yet."""
        return self._mission is self._director.waiting

    def _begin(self, planned: PlannedTask, way: str, answer: Answer, now: Instant) -> None:
        self._director.stepwise.add_task(planned, now, way)
        self._running = (len(self._mission.tasks) - 1, answer)

    def _ask_permission(self, planned: PlannedTask, way: str, answer: Answer, now: Instant) -> None:
        """Ask the operator whether a task may run; without an answer it may not."""
        mission = self._mission

        def answered(choice: str | None, now: Instant) -> None:
            if choice == "yes":
                if self._approval is Approval.NEXT:
                    self._approval = Approval.NONE
                self._begin(planned, way, answer, now)
                return
            why = "the operator said no" if choice else "nobody allowed it in time"
            mission.say(now.stamp_s, "refused", f'"{planned.text}": {why}')
            answer(Reply(False, f"refused: {why}{self._left()}"))

        what = f"{planned.skill.name} {planned.skill_task}".rstrip()
        params = f" with {json.dumps(dict(planned.params))}" if planned.params else ""
        params += f", tried anew by {way}" if way else ""
        text = plain_line(f'{self._who} wants to run {what}: "{planned.text}"{params}', MAX_QUESTION)
        text += ". May it, and what is tried if it fails, yes or no?"
        self._director.ask(text, self._limits.question_timeout_s, answered, now, YES_OR_NO)

    def _admit(self, request: Execute, now: Instant) -> PlannedTask | str:
        """Return the task that a request asks for, or why it is refused."""
        tasks = self._mission.tasks
        skill = self._director.stepwise.find_skill(request.skill)
        if self._running is not None:
            return "a skill is running; wait for its end"
        if self._director.question and not self._waits:
            return "the operator is being asked; wait for the answer"
        if skill is None:
            return f"no skill '{plain_line(request.skill)[:80]}' is deployed, active and allowed here"
        known = {task.id: task for task in skill.tasks}
        if known and request.task not in known:
            return f"{skill.name} has no task '{plain_line(request.task)[:80]}'; it has {', '.join(known)}"
        instruction = request.instruction.strip() or (
            known[request.task].phrase if known else _words_of_motion(skill, request)
        )
        if not instruction or len(instruction) > MAX_INSTRUCTION or not instruction.isprintable():
            return f"the instruction must be one line of 1 to {MAX_INSTRUCTION} characters"
        if fault := _fault_of_goal(skill, request):
            return fault
        if len(tasks) >= self._limits.max_tasks:
            return f"a mission has at most {self._limits.max_tasks} tasks"
        asked = (skill.name, request.task, request.params, request.way)
        same = [(t.planned.skill.name, t.planned.skill_task, t.planned.params, t.way) == asked for t in tasks]
        if len(same) >= self._limits.max_repeats and all(same[-self._limits.max_repeats :]):
            return (
                f"the same task was asked for {self._limits.max_repeats} times in a row; try something else"
            )
        planned = PlannedTask(
            instruction,
            skill,
            request.task,
            instruction,
            1.0,
            params=request.params,
            stop_when=request.stop_when,
            max_steps=request.max_steps,
        )
        return (
            request.way and self._director.stepwise.why_not(request.way, planned, self._mission, now)
        ) or planned

    def _ask(self, request: AskOperator, answer: Answer, now: Instant) -> None:
        if self._waits:
            busy = (
                f'"{plain_line(self._director.mission.text)}" is in work, and goes on until you run a skill'
            )
            answer(Reply(False, f"refused: {busy}; ask in the words of finish_mission, with done false"))
            return
        if self._director.question or self._asked >= self._limits.max_questions:
            answer(Reply(False, f"at most {self._limits.max_questions} questions a mission, one at a time"))
            return
        self._asked += 1

        def answered(words: str | None, now: Instant) -> None:
            said = None if words is None else f'the operator answered: "{plain_line(words)}"'
            answer(Reply(said is not None, (said or "the operator did not answer in time") + self._left()))

        patience_s = min(max(request.timeout_s, 1.0), self._limits.question_timeout_s)
        self._director.ask(plain_line(request.question), patience_s, answered, now)


def _words_of_motion(skill: Skill, request: Execute) -> str:
    """Return the instruction, for the log, of a motion that was given none; empty: it is a policy, which needs one."""
    if skill.kind != MOTION:
        return ""
    return plain_line(f"{skill.slug.replace('_', ' ')} {json.dumps(dict(request.params))}", MAX_INSTRUCTION)


def _fault_of_goal(skill: Skill, request: Execute) -> str:
    """Return what is wrong with the parameters or the step budget of a goal; empty: nothing."""
    try:
        check_goal_params(skill.name, skill.goal_params_schema, request.params)
    except ContractError as error:
        return plain_line(str(error).replace("params_json", "params", 1))
    if not 0 <= request.max_steps <= MAX_STEPS:
        return f"max_steps is {request.max_steps}; send 1 to {MAX_STEPS}, or 0 for no such bound"
    return ""
