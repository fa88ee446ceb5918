"""The meaning of a task's words as motions: a fixed table of verbs, and the things that they are applied to.

A task can be done by motions if one thing is taken, put at another one, pressed from above, or reached. Opening and
closing mean no motions, since no word says in which direction a drawer or a door moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from openral_reasoner.planner import PlannedTask
from openral_reasoner.word_stems import stem, words


class Verb(str, Enum):
    """What is done to a thing."""

    TAKE = "take"
    PUT = "put"
    PRESS = "press"
    REACH = "reach"


_VERBS: Mapping[Verb, str] = {
    Verb.PUT: "put place set lay stack bring carry move drop push slide",
    Verb.TAKE: "pick take lift grasp grab raise",
    Verb.PRESS: "press push hit",
    Verb.REACH: "reach touch go move",
}
"""Words of each verb. The first verb that fits counts; PUT fits only where a second thing, the place, is named."""
MOTIONS: Mapping[Verb, tuple[str, ...]] = {
    Verb.TAKE: ("pick_at",),
    Verb.PUT: ("pick_at", "move_to", "place_at"),
    Verb.PRESS: ("move_to", "nudge"),
    Verb.REACH: ("move_to",),
}
"""The motions that each verb may need."""


@dataclass(frozen=True)
class Meaning:
    """A task in terms of motions."""

    verb: Verb | None
    """What is done; None: the task's words mean no motions."""
    thing: str
    """The thing that it is done to, one of the skill's `objects`; empty: the words name none."""
    place: str = ""
    """The thing at which it is put; empty: the verb is not PUT."""

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the motions that it may need; none: it cannot be done by motions."""
        return MOTIONS[self.verb] if self.verb and self.thing else ()

    @property
    def holds(self) -> bool:
        """Whether the fingers hold a thing while it is done."""
        return bool(self.thing) and self.verb in (Verb.TAKE, Verb.PUT)

    @property
    def can_be_measured(self) -> bool:
        """Whether the distance between two things says if it is done."""
        return self.verb is Verb.PUT and bool(self.thing and self.place)

    @property
    def steps(self) -> str:
        """The motions in words, for the mission log."""
        put = f", and put at the {self.place}" if self.verb is Verb.PUT else ""
        done = {Verb.TAKE: "taken", Verb.PUT: "taken", Verb.PRESS: "pressed", Verb.REACH: "reached"}
        return f"the {self.thing} is {done[self.verb]}{put}" if self.verb else ""


def meaning_of(planned: PlannedTask) -> Meaning:
    """Return the meaning of a task's words."""
    things = things_of(planned)
    thing, place = (*things, "", "")[:2]
    said = {stem(word) for word in _words(planned)}
    for verb, its_words in _VERBS.items():
        if said.isdisjoint(map(stem, its_words.split())):
            continue
        if verb is not Verb.PUT or place:
            return Meaning(verb, thing, place if verb is Verb.PUT else "")
    return Meaning(None, thing)


def things_of(planned: PlannedTask) -> Sequence[str]:
    """Return the objects of the skill that a task's words name, in the order in which they are named.

    An object of several words is named by all of them in a row, or by the last one alone where no other object is named
    at that place: "the red cube" names the red cube only, "the handle" may name the door handle.
    """
    said = [stem(word) for word in _words(planned)]
    named: dict[int, str] = {}
    for thing in sorted(planned.skill.objects, key=lambda thing: len(words(thing)), reverse=True):
        phrase = [stem(word) for word in words(thing)]
        if phrase and (end := _end_of(phrase, said)) is not None:
            named.setdefault(end, thing)
    for thing in planned.skill.objects:
        noun = stem(words(thing)[-1]) if words(thing) else ""
        if noun in said and thing not in named.values():
            named.setdefault(said.index(noun), thing)
    return [named[place] for place in sorted(named)]


def _end_of(phrase: Sequence[str], said: Sequence[str]) -> int | None:
    """Return the index in `said` of the last word of the first occurrence of a phrase; None: there is none."""
    ends = range(len(phrase) - 1, len(said))
    return next((end for end in ends if [*said[end - len(phrase) + 1 : end + 1]] == [*phrase]), None)


def _words(planned: PlannedTask) -> list[str]:
    return words(f"{planned.instruction} {planned.text} {planned.meant}")
