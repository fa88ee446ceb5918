"""Speech acts, and the labels of a generated sentence."""

from __future__ import annotations

from dataclasses import dataclass

ACTS = ("order", "statement", "question", "forbidden", "unreal", "fragment")
"""The speech acts of a clause.

order: a request to act now. statement: a remark that may accompany an order. question. forbidden: a prohibition, a
request to leave something as it is, or the retraction of an order. unreal: an action that is imagined, reported,
someone else's, or for later. fragment: words without a verb or without an object."""
ORDER, STATEMENT, QUESTION, FORBIDDEN, UNREAL, FRAGMENT = range(6)
IGNORED = -1.0


@dataclass(frozen=True)
class Utterance:
    """A sentence with its speech act, and whether it orders each task of the deployment."""

    text: str
    act: int
    labels: tuple[float, ...]
    """For each task 1 if the sentence orders exactly that task, else 0; `IGNORED` where this is unknown."""
    parts: tuple[tuple[float, float], ...] = ()
    """For each task whether the sentence has its action, and its object: 0, 1 or `IGNORED`; empty: all `IGNORED`."""
