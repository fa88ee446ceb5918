"""What a planner gives back, and the `Planner` protocol: a plan, a question, or why there is neither.

A planner proposes; the mission's gates decide what happens with the plan. The offline planner is in
`openral_reasoner.offline.planner`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from openral_core.stop_conditions import StopCondition
from openral_reasoner.condition import Guard, Until
from openral_reasoner.palette import Palette, Skill


@dataclass(frozen=True)
class PlannedTask:
    """One task, and the skill that is to do it."""

    text: str
    """The operator's words for this task."""
    skill: Skill
    skill_task: str
    """The skill's task id, or empty."""
    instruction: str
    """Words for the policy."""
    score: float
    """0..1, how well the words matched."""
    guard: Guard | None = None
    """What must hold for this task, and those behind it that the guard spans, to run."""
    until: Until | None = None
    """What ends the repetition of this task, and of those before it that the loop spans."""
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Parameters of the goal, for the skill's `goal_params_schema`; empty: none."""
    stop_when: tuple[StopCondition, ...] = ()
    """Conditions that end the goal; whether the task is done, the reward monitor says."""
    max_steps: int = 0
    """Control steps after which the goal ends; 0: no such bound."""

    @property
    def leaves(self) -> str:
        """What is in the hand after the task: nothing, object, anything."""
        return next((task.leaves for task in self.skill.tasks if task.id == self.skill_task), "anything")

    @property
    def meant(self) -> str:
        """The task in the skill's own words."""
        return next(
            (task.phrase for task in self.skill.tasks if task.id == self.skill_task), self.instruction
        )


@dataclass(frozen=True)
class Plan:
    """Tasks in their order of execution, at least one."""

    tasks: tuple[PlannedTask, ...]


@dataclass(frozen=True)
class CannotDo:
    """The sentence, or a part of it, cannot be done, so nothing of it is executed."""

    reason: str
    """Why, as half a sentence."""
    offers: tuple[str, ...]
    """What can be done instead, in words."""

    @property
    def sentence(self) -> str:
        """The answer to the operator."""
        what = f"What I can do: {'; '.join(self.offers)}." if self.offers else "No skill is ready."
        return f"I cannot do this: {self.reason}. {what}"


@dataclass(frozen=True)
class Ask:
    """The sentence may mean tasks that can be done, but not clearly enough to do them without asking."""

    reason: str
    """Why, as half a sentence."""
    options: tuple[Plan, ...]
    """The plans that may be meant, the likeliest first; at least one."""

    @property
    def question(self) -> str:
        """What the operator is asked."""
        meanings = " or ".join(f'"{", then ".join(t.meant for t in plan.tasks)}"' for plan in self.options)
        return f"Did you mean {meanings}? ({self.reason})"

    @property
    def sentence(self) -> str:
        """The answer to the operator where no question is asked."""
        return f"I did nothing: {self.reason}. {self.question}"


Proposal = Plan | Ask | CannotDo


class Planner(Protocol):
    """Turns a sentence into a plan with the usable skills. It may take seconds, in a thread of its own."""

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        """Return a plan for the whole sentence, a question about it, or why there is neither."""
        ...
