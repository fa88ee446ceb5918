"""Measures by the locator whether a thing is where its task puts it.

The reward monitor judges pictures of the whole scene and is calibrated on rollouts of policies: it abstains from many
attempts, and from most of those that motions made. Where a task puts one thing at another (`task_motions`), the
distance between the two is more reliable. It decides where the monitor abstained, and it overrules a monitor that calls
a task done whose thing lies elsewhere. At distances between the two thresholds, and where the locator does not find
both, the earlier judgement stands. A hand that hides most of the thing makes the locator err by a few centimetres; if
it took the thing by motions and its fingers have not moved since, the hand's position counts as the thing's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import dist

from openral_reasoner.mission.attempt import FindThing
from openral_reasoner.mission.ladder.rung_steps import Point
from openral_reasoner.mission.ladder.task_motions import meaning_of
from openral_reasoner.mission.mission import Task
from openral_reasoner.mission.verify_gate import GateVerdict, Judgement
from openral_reasoner.palette import MOTION

THERE_M = 0.04
"""[m] distance up to which a thing is at a place.

The locator's error is above 2.1 cm in one answer of ten, and tasks of MetaWorld count as done within 5 or 7 cm."""
ELSEWHERE_M = 0.1
"""[m] distance from which on a thing is not at a place."""
PATIENCE_S = 20.0
"""[s] wall time that one answer of the locator may take."""
KEY = -1000
"""Keys of `FindThing` are below it; those of a preparation are positive."""
MEASURED = "was measured"
"""Words that the reason of every judgement by distance holds."""
_OPEN = (GateVerdict.SUCCEEDED, GateVerdict.UNVERIFIED)
"""Verdicts that a measurement can change. A stalled attempt, or one at its deadline, has failed in any case."""


class Measurement:
    """Measures the end of one attempt at a time. Not thread-safe; times are monotonic, [s]."""

    def __init__(self) -> None:
        """Begin without an attempt and without a locator."""
        self.can_locate = False
        self._key = KEY
        self._judged: Judgement | None = None
        self._wanted: list[str] = []
        self._place = ""
        self._points: dict[str, Point] = {}
        self._asked_wall_s: float | None = None
        self._known: Mapping[str, Point] = {}
        self._hand: Point | None = None

    @property
    def waits(self) -> bool:
        """An attempt is being measured."""
        return self._judged is not None

    def forget(self) -> None:
        """Drop all state, since another mission begins; answers that still come are ignored."""
        self._judged, self._asked_wall_s, self._known, self._hand = None, None, {}, None

    def knows(self, points: Mapping[str, Point], hand: Point | None) -> None:
        """Take where things were located before an attempt, since a place may be covered by the thing afterwards.

        Args:
            points: [m] by the words that the things are named with.
            hand: [m] where the hand is at the end of the motions that do the task, with the thing between its fingers;
                None: it holds nothing, or an attempt of a skill follows.
        """
        self._known, self._hand = dict(points), hand

    def begin(self, judgement: Judgement, task: Task) -> str:
        """Defer a judgement until the thing and its place are located.

        Returns:
            What is asked, for the mission log; empty: the judgement is not deferred.
        """
        meaning, known, self._known = meaning_of(task.planned), self._known, {}
        if not (self.can_locate and meaning.can_be_measured) or judgement.broken_off:
            return ""
        if judgement.verdict not in _OPEN or task.planned.skill.kind == MOTION:
            return ""
        self._judged, self._asked_wall_s = judgement, None
        self._points = {place: known[place] for place in (meaning.place,) if place in known}
        self._wanted, self._place = [meaning.thing, meaning.place], meaning.place
        return f"{judgement.reason}; where are the {meaning.thing} and the {meaning.place}?"

    def due(self, wall_s: float) -> list[FindThing] | Judgement:
        """Return what is to be located now, or the judgement once both things, or one of them not, were found."""
        assert self._judged is not None, "asked only while it waits"
        missing = [words for words in self._wanted if words not in self._points]
        if not missing:
            return self._end(self._by_distance())
        if self._asked_wall_s is None:
            self._key, self._asked_wall_s = self._key - 1, wall_s
            return [FindThing(self._key, missing[0])]
        return self._end(self._judged) if wall_s - self._asked_wall_s > PATIENCE_S else []

    def found(self, key: int, point: Point | None) -> bool:
        """Take the answer to the `FindThing` of a key; return whether it was still awaited."""
        if self._judged is None or key != self._key or self._asked_wall_s is None:
            return False
        missing = next(words for words in self._wanted if words not in self._points)
        self._asked_wall_s = None
        if point is None:
            self._wanted = []
        else:
            self._points[missing] = point
        return True

    def _end(self, judgement: Judgement) -> Judgement:
        self._judged, self._asked_wall_s = None, None
        return judgement

    def _by_distance(self) -> Judgement:
        judged = self._judged
        assert judged is not None, "begin gave one"
        if not self._wanted:
            return self._by_hand(judged)
        thing, place = self._wanted
        away_m = dist(self._points[thing], self._points[place])
        reason = f"the {thing} {MEASURED} {100 * away_m:.1f} cm from the {place}"
        if away_m >= ELSEWHERE_M:
            return Judgement(GateVerdict.STALLED, f"{reason}: it is not done ({judged.reason})")
        if away_m <= THERE_M:
            return Judgement(GateVerdict.SUCCEEDED, f"{reason}: it is done")
        return self._by_hand(replace(judged, reason=f"{judged.reason}; {reason}"))

    def _by_hand(self, judged: Judgement) -> Judgement:
        """Return a success where the hand that holds the thing is at its place, else the earlier judgement."""
        if self._hand is None or self._place not in self._points:
            return judged
        away_m = dist(self._hand, self._points[self._place])
        if away_m > THERE_M:
            return judged
        reason = f"the hand that holds it {MEASURED} {100 * away_m:.1f} cm from the {self._place}: it is done"
        return Judgement(GateVerdict.SUCCEEDED, reason)


def is_measuring(key: int) -> bool:
    """Return whether the `FindThing` of this key is for a measurement, and not for a motion."""
    return key < KEY
