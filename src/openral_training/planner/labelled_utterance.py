"""What a sentence may be, and how a generated one is labelled."""

from __future__ import annotations

from dataclasses import dataclass

ACTS = ("order", "statement", "question", "forbidden", "unreal", "fragment")
"""Speech acts: an order; harmless talk beside an order; a question; a prohibition, a keeping or a taking back; what is
imagined, reported, another's or for later; a piece without a verb or without an object."""
ORDER, STATEMENT, QUESTION, FORBIDDEN, UNREAL, FRAGMENT = range(6)
IGNORED = -1.0


@dataclass(frozen=True)
class Utterance:
    """A sentence, its speech act, and for each task of the deployment whether it orders exactly that task."""

    text: str
    act: int
    labels: tuple[float, ...]
    """0..1 a task; `IGNORED`: unknown."""
    parts: tuple[tuple[float, float], ...] = ()
    """For each task whether the action, and whether the thing, are that task's; `IGNORED`: unknown; empty: for all."""
