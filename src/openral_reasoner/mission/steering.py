"""The gates between an agent and the arm: what a language model asks for is checked here, in code.

Whatever the model read, wherever it read it, a request can only name a skill of the palette and a task of that
skill; it can neither change a limit, nor call a task done that the reward monitor did not see done, nor go on
after a stop. Refusals are replies in words, so that the model can choose again.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from openral_core.errors import ContractError
from openral_core.goal_params import check_goal_params
from openral_core.instant import Instant
from openral_reasoner.mission.attempt import Command
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.mission import MissionState, TaskState
from openral_reasoner.mission.request_queue import (
    AskOperator,
    Decompose,
    Execute,
    Finish,
    Reply,
    Request,
    Say,
)
from openral_reasoner.plain_line import plain_line
from openral_reasoner.planner import PlannedTask

Answer = Callable[[Reply], None]

MAX_INSTRUCTION = 200
"""Characters of an instruction for a policy; none was trained on longer ones."""


class SteeringLimits(BaseModel):
    """How much an agent may do in one mission."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tasks: int = Field(default=20, ge=1)
    """Skills it may run."""
    max_repeats: int = Field(default=2, ge=1)
    """Times in a row it may ask for the same task of the same skill, each with all its attempts."""
    max_questions: int = Field(default=3, ge=0)
    """Questions to the operator."""
    question_timeout_s: float = Field(default=120.0, gt=0)
    """[s] longest wait for an answer of the operator, wall time."""


class Steering:
    """Lets an agent add tasks to the director's mission. Not thread-safe: call it where the director is called."""

    def __init__(self, director: Director, limits: SteeringLimits | None = None) -> None:
        self._director = director
        self._limits = limits or SteeringLimits()
        self._running: tuple[int, Answer] | None = None
        self._asked = 0
        self._has_observed = False

    def handle(self, request: Request, answer: Answer, now: Instant) -> list[Command]:
        """Decide about one request; its answer may come later, from `tick`."""
        mission = self._director.mission
        if mission.state is not MissionState.ACTIVE:
            answer(Reply(False, "the mission has ended"))
            return []
        if isinstance(request, Execute):
            return self._execute(request, answer, now)
        if isinstance(request, AskOperator):
            self._ask(request, answer, now)
        elif isinstance(request, Say):
            mission.say(now.stamp_s, "says", plain_line(request.text))
            answer(Reply(True, "said"))
        elif isinstance(request, Decompose):
            steps = "; ".join(plain_line(step)[:80] for step in request.steps[: self._limits.max_tasks])
            mission.say(now.stamp_s, "steps", steps)
            answer(Reply(True, "noted; now run the steps one by one"))
        elif isinstance(request, Finish) and self._running is not None:
            answer(Reply(False, "a skill is running; wait for its end"))
        elif isinstance(request, Finish):
            words = plain_line(request.words)
            nothing_to_do = request.nothing_to_do and self._has_observed
            self._director.finish(request.done, words, now.stamp_s, nothing_to_do=nothing_to_do)
            answer(Reply(True, mission.message))
        else:
            answer(Reply(False, f"{type(request).__name__} is not for the mission"))
        return []

    def observed(self, reply: Reply) -> None:
        """Take note of an answer of a camera or of the reward monitor that says something about the world."""
        self._has_observed |= reply.ok and (bool(reply.image_png) or reply.reading is not None)

    def tick(self, now: Instant) -> None:
        """Tell the agent of a task that has come to its end."""
        if self._running is None:
            return
        index, answer = self._running
        task = self._director.mission.tasks[index]
        if task.state in (TaskState.DONE, TaskState.ABANDONED):
            self._running = None
            verified = task.state is TaskState.DONE
            word = "done, verified by the reward monitor" if verified else "not verified as done"
            attempts = f"{task.attempts} attempt{'s' if task.attempts != 1 else ''}"
            answer(Reply(verified, f"{word}, after {attempts}: {task.outcome}"))

    def _execute(self, request: Execute, answer: Answer, now: Instant) -> list[Command]:
        planned = self._admit(request)
        if isinstance(planned, str):
            self._director.mission.say(now.stamp_s, "refused", planned)
            answer(Reply(False, f"refused: {planned}"))
            return []
        if request.why:
            self._director.mission.say(now.stamp_s, "reason", plain_line(request.why))
        commands = self._director.add_task(planned, now)
        self._running = (len(self._director.mission.tasks) - 1, answer)
        return commands

    def _admit(self, request: Execute) -> PlannedTask | str:
        """Return the task, or why it is refused."""
        tasks = self._director.mission.tasks
        skill = self._director.find_skill(request.skill)
        if self._running is not None:
            return "a skill is running; wait for its end"
        if skill is None:
            return f"no skill '{plain_line(request.skill)[:80]}' is deployed, active and allowed here"
        known = {task.id: task for task in skill.tasks}
        if known and request.task not in known:
            return f"{skill.name} has no task '{plain_line(request.task)[:80]}'; it has {', '.join(known)}"
        instruction = request.instruction.strip() or (known[request.task].phrase if known else "")
        if not instruction or len(instruction) > MAX_INSTRUCTION or not instruction.isprintable():
            return f"the instruction must be one line of 1 to {MAX_INSTRUCTION} characters"
        try:
            check_goal_params(skill.name, skill.goal_params_schema, request.params)
        except ContractError as error:
            return plain_line(str(error))
        if len(tasks) >= self._limits.max_tasks:
            return f"a mission has at most {self._limits.max_tasks} tasks"
        asked = (skill.name, request.task, request.params)
        same = [(t.planned.skill.name, t.planned.skill_task, t.planned.params) == asked for t in tasks]
        if len(same) >= self._limits.max_repeats and all(same[-self._limits.max_repeats :]):
            return (
                f"the same task was asked for {self._limits.max_repeats} times in a row; try something else"
            )
        return PlannedTask(instruction, skill, request.task, instruction, 1.0, params=request.params)

    def _ask(self, request: AskOperator, answer: Answer, now: Instant) -> None:
        if self._director.question or self._asked >= self._limits.max_questions:
            answer(Reply(False, f"at most {self._limits.max_questions} questions a mission, one at a time"))
            return
        self._asked += 1

        def answered(words: str | None, now: Instant) -> None:
            said = None if words is None else f'the operator answered: "{plain_line(words)}"'
            answer(Reply(said is not None, said or "the operator did not answer in time"))

        patience_s = min(max(request.timeout_s, 1.0), self._limits.question_timeout_s)
        self._director.ask(plain_line(request.question), patience_s, answered, now)
