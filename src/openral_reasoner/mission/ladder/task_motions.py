"""What the words of a task mean as motions: a closed table of verbs, and the things that they are about.

Motions know no words, and no order of the hand is made of more than what stands here: one thing is taken, put at
another one, pressed from above, or reached. Which way a drawer or a door goes no word says, so opening and closing mean
no motions.
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
"""Words of each verb, the first verb that fits counts; to put something needs a second thing, the place."""
MOTIONS: Mapping[Verb, tuple[str, ...]] = {
    Verb.TAKE: ("pick_at",),
    Verb.PUT: ("pick_at", "move_to", "place_at"),
    Verb.PRESS: ("move_to", "nudge"),
    Verb.REACH: ("move_to",),
}
"""The motions that each verb may need."""


@dataclass(frozen=True)
class Meaning:
    """A task as motions."""

    verb: Verb | None
    """None: its words mean no motions."""
    thing: str
    """What it is done to, a word of the skill's `objects`; empty: the words name none."""
    place: str = ""
    """Where it is put."""

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the motions; none: it cannot be done by motions."""
        return MOTIONS[self.verb] if self.verb and self.thing else ()

    @property
    def holds(self) -> bool:
        """Something is between the fingers while it is done."""
        return bool(self.thing) and self.verb in (Verb.TAKE, Verb.PUT)

    @property
    def can_be_measured(self) -> bool:
        """How far one thing is from another says whether it is done."""
        return self.verb is Verb.PUT and bool(self.thing and self.place)

    @property
    def steps(self) -> str:
        """The motions in words, for the mission log."""
        put = f", and put at the {self.place}" if self.verb is Verb.PUT else ""
        done = {Verb.TAKE: "taken", Verb.PUT: "taken", Verb.PRESS: "pressed", Verb.REACH: "reached"}
        return f"the {self.thing} is {done[self.verb]}{put}" if self.verb else ""


def meaning_of(planned: PlannedTask) -> Meaning:
    """Return what a task means as motions."""
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
    """Return the objects of the skill that a task's words name, in their order.

    An object of several words is named by all of them, one after the other, or by the last alone where no other object
    is named there: "the red cube" is the red cube and no other, "the handle" may be the door handle.
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
    """Return where the last word of a phrase first stands behind its others; None: nowhere."""
    ends = range(len(phrase) - 1, len(said))
    return next((end for end in ends if [*said[end - len(phrase) + 1 : end + 1]] == [*phrase]), None)


def _words(planned: PlannedTask) -> list[str]:
    return words(f"{planned.instruction} {planned.text} {planned.meant}")
