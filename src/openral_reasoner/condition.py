"""Conditions and loops of a plan: what must hold before a task runs, and what ends a repetition.

They are plain data of a `PlannedTask`, so that a mission can be recorded and resumed. A plan stays a flat list: a guard
says how many tasks from its own on it governs, a loop how many tasks up to its own it repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_ROUNDS = 10
"""Rounds after which a loop ends, whether its condition holds or not."""


@dataclass(frozen=True)
class Condition:
    """A statement about the world, such as "the drawer is open", or its negation."""

    text: str
    """The operator's words, without a "not"."""
    task: str
    """Words, for the reward monitor, of the task that makes it true: "open the drawer"."""
    undone: str = ""
    """Words of the task that makes it false, "close the drawer"; empty: no skill here does."""
    negated: bool = False
    """Whether the condition holds where the statement is false."""

    @property
    def question(self) -> str:
        """What the operator is asked when the reward monitor cannot tell."""
        return f"I cannot tell: {self.text}, yes or no?"


@dataclass(frozen=True)
class Guard:
    """A condition that decides once, before its first task begins, which tasks run."""

    condition: Condition
    span: int = 1
    """Tasks, from this one on, that run only if the condition holds."""
    otherwise: int = 0
    """Tasks after those that run only if it does not."""
    wait: bool = False
    """Whether the condition is waited for, up to the director's `condition_patience_s`."""


@dataclass(frozen=True)
class Until:
    """A condition that ends a loop; it is evaluated each time its task, the last of the loop, is done."""

    condition: Condition
    span: int = 1
    """Tasks up to this one that are repeated while the condition does not hold."""
    rounds: int = MAX_ROUNDS
    """Rounds that are left, the present one included; at least 1."""
