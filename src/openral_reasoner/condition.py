"""Conditions and loops of a plan: what must hold before a task runs, and what ends a repetition.

They are plain data beside a `PlannedTask`, so that a mission can be written down and taken up again. A plan stays a
flat list: a guard says how many tasks from its own on it governs, a loop how many tasks up to its own it repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_ROUNDS = 10
"""A loop ends after so many rounds, whatever the condition says."""


@dataclass(frozen=True)
class Condition:
    """Something about the world that is so, or is not: "the drawer is open"."""

    text: str
    """The operator's words, without a "not"."""
    task: str
    """Words of the task that makes it so, for the reward monitor: "open the drawer"."""
    undone: str = ""
    """Words of the task that undoes it, "close the drawer"; empty: no skill here undoes it."""
    negated: bool = False
    """It holds if the task does not count as done."""

    @property
    def question(self) -> str:
        """What the operator is asked when the reward monitor cannot tell."""
        return f"I cannot tell: {self.text}, yes or no?"


@dataclass(frozen=True)
class Guard:
    """Decided once, when its first task is about to begin."""

    condition: Condition
    span: int = 1
    """Tasks, from this one on, that run only if the condition holds."""
    otherwise: int = 0
    """Tasks behind those that run only if it does not."""
    wait: bool = False
    """Wait for it, up to the director's `condition_patience_s`, and do nothing if it never comes."""


@dataclass(frozen=True)
class Until:
    """Asked each time its task, the last of the loop, is done."""

    condition: Condition
    span: int = 1
    """Tasks, up to this one, that are done again while the condition does not hold."""
    rounds: int = MAX_ROUNDS
    """Rounds that are left, this one included; at least 1."""
