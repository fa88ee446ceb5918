"""Verbs that no table knows, judged by sentence embeddings: are they nearer to a task, or to something else?

Nearest neighbours among short orders about the same object: those that the tasks' own verbs make ("open the
drawer"), and those of verbs that mean something else ("clean the drawer"), which stand for all that no skill does.
What comes of it is only ever a question to the operator. Measured on verbs that no table knows, the order of
nearness is good enough to ask and not to act: embeddings know what a word is about, not which way it goes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cached_property

from openral_core.errors import InstallationError
from openral_core.sentence import SentenceEncoder
from openral_reasoner.offline.rules.entries import Entry, entries_of
from openral_reasoner.offline.rules.matcher import (
    ACCEPT,
    OPPOSITE,
    WORTH_ASKING,
    LexicalMatcher,
    Match,
    Matcher,
)
from openral_reasoner.offline.rules.meaning import analyse
from openral_reasoner.offline.rules.spelling import shared_encoder
from openral_reasoner.offline.rules.verbs import ALL_VERBS, CONTRASTS, SYNONYMS
from openral_reasoner.palette import Palette
from openral_reasoner.vocabulary import object_stem, stem, words

LEAD = 0.0
"""Lead in cosine over all that is something else, from which the operator is asked: chosen with the verbs in
`tests/reasoner/test_semantic.py`, which says how many of ours and of the others it asks about."""


class SemanticMatcher:
    """The lexical matcher, and embeddings for a verb that it does not know."""

    def __init__(
        self, lexical: Matcher | None = None, load: Callable[[], SentenceEncoder] = shared_encoder
    ) -> None:
        """Begin without an encoder.

        Args:
            lexical: is asked first.
            load: makes the encoder when the first unknown verb comes. Without its package the tables decide alone,
                and the log says so.
        """
        self._lexical = lexical or LexicalMatcher()
        self._load = load

    def rank(self, clause: str, palette: Palette) -> list[Match]:
        """Return candidates with a score above 0, best first; ties in the palette's order."""
        known = self._lexical.rank(clause, palette)
        verb, *rest = words(clause) or [""]
        if (known and known[0].score >= ACCEPT) or not rest or not is_unknown_verb(clause):
            return known
        asked = {match.says: match for match in known} | {
            entry.says: Match(
                entry.skill, entry.task, (WORTH_ASKING + ACCEPT) / 2, covered=False, says=entry.says
            )
            for entry, lead in self._leads(verb, rest, palette)
            if lead >= LEAD
        }
        return sorted(asked.values(), key=lambda match: -match.score)

    @cached_property
    def _encoder(self) -> SentenceEncoder | None:
        try:
            return self._load()
        except InstallationError as error:
            logging.getLogger(__name__).warning("unknown verbs are refused and not asked about: %s", error)
            return None

    def _leads(self, verb: str, rest: Sequence[str], palette: Palette) -> list[tuple[Entry, float]]:
        """Tasks whose object is named, with how much nearer the verb is to each than to anything else."""
        if (encoder := self._encoder) is None:
            return []
        things = analyse(" ".join(("open", *rest))).things  # any verb: the rest is what counts here
        leads: list[tuple[Entry, float]] = []
        for entry in entries_of(palette):
            thing = next((word for word in rest if object_stem(word) in entry.objects), "")
            if not thing or not things <= entry.vocabulary or not _same_way(rest, entry):
                continue
            said = encoder.encode([f"{verb} the {thing}"])[0]
            own, other = (
                float((encoder.encode(_about(thing, verbs)) @ said).max())
                for verbs in (_verbs_of(entry), CONTRASTS)
            )
            leads.append((entry, own - other))
        return sorted(leads, key=lambda each: -each[1])


def is_unknown_verb(clause: str) -> bool:
    """Whether a clause begins with a word before "the" that no table knows as a verb."""
    said = words(clause)
    return len(said) > 2 and stem(said[0]) not in ALL_VERBS and said[1] in ("the", "that", "this", "my")


def _about(thing: str, verbs: Sequence[str]) -> list[str]:
    return [f"{verb} the {thing}" for verb in verbs]


def _verbs_of(entry: Entry) -> list[str]:
    """The verbs of a task's examples, and the synonyms of its actions."""
    own = [words(phrase)[0] for phrase in (entry.task.phrases if entry.task else ()) if words(phrase)]
    return list(
        dict.fromkeys(
            [*own, *(verb for action in sorted(entry.actions) for verb in SYNONYMS.get(action, ()))]
        )
    )


def _same_way(rest: Sequence[str], entry: Entry) -> bool:
    """Whether no word of the clause points against the task: "out" is not how a drawer is closed."""
    phrases = {word for phrase in (entry.task.phrases if entry.task else ()) for word in words(phrase)}
    return not any(word in OPPOSITE and OPPOSITE[word] in phrases and word not in phrases for word in rest)
