"""The question that the operator is asked: who gets its answer, what counts as one, and when nobody waits any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openral_core.cli.printable import plain_line
from openral_core.instant import Instant
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.mission.question import Answered, Question


class OpenQuestion:
    """Holds at most one question; a newer one takes its place. Not thread-safe."""

    def __init__(self, mission: Callable[[], Mission]) -> None:
        """Begin without a question.

        Args:
            mission: returns the mission that is in work, whose fields show the question.
        """
        self._mission = mission
        self._open: Question | None = None

    @property
    def waits(self) -> bool:
        """Whether a question is open, or is answered and its asker has not been told the answer yet."""
        return self._open is not None

    @property
    def text(self) -> str:
        """What the operator is asked; empty: nothing, or the mission has ended."""
        return self._open.text if self._open and self._mission().state is MissionState.ACTIVE else ""

    def forget(self) -> None:
        """Drop the question, since another mission begins."""
        self._open = None

    def ask(
        self,
        text: str,
        patience_s: float,
        answered: Answered,
        now: Instant,
        options: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """Ask the operator.

        Args:
            text: the question.
            patience_s: [s] wall time after which nobody waits for an answer any more.
            answered: called by a later `hear` with the answer, or with None where there was none in time.
            now: this moment.
            options: answer -> words that mean it; None: any words are an answer.
        """
        self._open = Question(text, now.wall_s + patience_s, answered, options or {})
        mission = self._mission()
        mission.question, mission.answers = text, tuple(options or ())
        mission.say(now.stamp_s, "question", f"{text} ({patience_s:.0f} s for an answer)")

    def take(self, words: str) -> bool:
        """Take the operator's words as the answer; return False where no question is open, or they do not answer it."""
        return bool(self.text) and self._open is not None and self._open.take(words)

    def hear(self, now: Instant) -> bool:
        """Call the question's `answered` with the answer, or with None once its time is over; return whether it was."""
        question = self._open
        if question is None or (question.answer is None and now.wall_s <= question.until_wall_s):
            return False
        mission, self._open = self._mission(), None
        mission.question, mission.answers = "", ()
        said = question.answer
        outcome = "nobody answered in time" if said is None else f'the operator said "{plain_line(said)}"'
        mission.say(now.stamp_s, "answer", outcome)
        question.answered(said, now)
        return True
