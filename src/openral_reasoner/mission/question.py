"""A question to the operator: the next prompt is its answer, or nobody answers in time."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from openral_core.instant import Instant
from openral_reasoner.mission.mission import Mission, MissionState
from openral_reasoner.planner import Ask
from openral_reasoner.word_stems import stem, words

Answered = Callable[[str | None, Instant], None]
"""(answer, now) -> None; the answer is one of the options, or any words, or None where nobody answered in time."""

AskOperatorFor = Callable[[str, float, Answered, Instant, Mapping[str, frozenset[str]]], None]
"""(text, patience [s], answered, now, options) -> None, as `Director.ask`."""

YES_OR_NO: Mapping[str, frozenset[str]] = {
    "yes": frozenset({"yes", "y", "yeah", "yep", "ok", "okay", "sure", "continue", "resume"}),
    "no": frozenset({"no", "n", "nope", "don't", "dont", "not", "never"}),
}
AFTER_FAILURE: Mapping[str, frozenset[str]] = {
    "retry": frozenset({"retry", "again", "yes", "y"}),
    "skip": frozenset({"skip"}),
    "no": frozenset({"no", "n", "give", "don't", "dont", "not"}),
}
"""What may be done about a task that failed: try it again, leave it out, or give the mission up."""
_BESIDE = (
    "a ahead all an and answer can choose do fine for go good i is it job just kindly let let's may mission now number "
    "of on one option please right robot task thank thanks that the then this to try we well with yes you"
)
_NAMING_NOTHING = frozenset(_BESIDE.split())
"""Words that an answer may hold besides. No direction is among them: "ok, back off" is no yes."""


@dataclass
class Question:
    """A question, and its answer once there is one."""

    text: str
    until_wall_s: float
    """[s] monotonic, after which no answer is waited for."""
    answered: Answered
    options: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Answer -> words that mean it; empty: any words are an answer."""
    answer: str | None = None
    """The answer, until the director tells it to the asker."""

    def take(self, text: str) -> bool:
        """Take a prompt as the answer; return False where it is an order of its own.

        "no" takes precedence over all other options, because "no, do not go on" holds words of both. Nothing begins to
        move by a question in return ("is it ok to go on?"), nor by words that speak of something that was not asked
        ("ok, open the window instead").
        """
        if not self.options:
            self.answer = text.strip()
            return True
        said = set(words(text))
        meant = [option for option, signs in self.options.items() if said & signs]
        if "no" in meant:
            self.answer = "no"
        elif len(meant) == 1 and "?" not in unicodedata.normalize("NFKC", text):
            named = {stem(word) for word in said - _NAMING_NOTHING - self.options[meant[0]]}
            if named <= {stem(word) for word in words(self.text)}:
                self.answer = meant[0]
        return self.answer is not None


def ask_which(mission: Mission, asked: Ask, patience_s: float, ask: AskOperatorFor, now: Instant) -> None:
    """Let the operator choose between the possible meanings of an order; without an answer the mission fails.

    Args:
        mission: adopts the chosen plan, else it is ended as failed.
        asked: the planner's question.
        patience_s: [s] wall time the operator has for an answer.
        ask: asks the operator.
        now: this moment.
    """
    single = len(asked.options) == 1
    signs = {str(n): frozenset({str(n)}) for n in range(1, len(asked.options) + 1)}
    options = YES_OR_NO if single else {**signs, "no": YES_OR_NO["no"]}
    answer = "yes or no?" if single else f"{', '.join(signs)} or no?"

    def answered(choice: str | None, now: Instant) -> None:
        if choice is None or choice == "no":
            mission.end(MissionState.FAILED, now.stamp_s, asked.sentence)
        else:
            mission.adopt(asked.options[0 if single else int(choice) - 1], now.stamp_s)

    ask(f"{asked.question} {answer}", patience_s, answered, now, options)
