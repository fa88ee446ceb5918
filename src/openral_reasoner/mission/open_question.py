"""The one question that may be open to the operator: who asks it, what counts as its answer, and its time-out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openral_core.instant import Instant
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.mission.question import Answered, Question
from openral_reasoner.plain_line import plain_line


class Questions:
    """Holds one question at a time; a newer one takes its place. Not thread-safe."""

    def __init__(self, mission: Callable[[], Mission]) -> None:
        """Begin with nothing to ask.

        Args:
            mission: returns the mission that is asked about.
        """
        self._mission = mission
        self._open: Question | None = None

    @property
    def waits(self) -> bool:
        """A question is open, or its answer has not been told yet."""
        return self._open is not None

    @property
    def text(self) -> str:
        """What the operator is asked; empty: nothing."""
        return self._open.text if self._open and self._mission().state is MissionState.ACTIVE else ""

    def forget(self) -> None:
        """Another mission begins."""
        self._open = None

    def ask(
        self,
        text: str,
        patience_s: float,
        answered: Answered,
        now: Instant,
        options: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """Ask the operator; the answer, or None after `patience_s` [s], is told by a later `hear`."""
        self._open = Question(text, now.wall_s + patience_s, answered, options or {})
        mission = self._mission()
        mission.question, mission.answers = text, tuple(options or ())
        mission.say(now.stamp_s, "question", f"{text} ({patience_s:.0f} s for an answer)")

    def take(self, words: str) -> bool:
        """Take words as the answer; False if no question is open, or they are none of its answers."""
        return bool(self.text) and self._open is not None and self._open.take(words)

    def hear(self, now: Instant) -> bool:
        """Tell the answer, or the end of the patience, to who asked; False: neither is there."""
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
