"""Which motions the words of a task mean."""

from __future__ import annotations

from dataclasses import replace

import pytest
from director_desk import SKILL

from openral_reasoner.mission.ladder.task_motions import Verb, meaning_of
from openral_reasoner.planner import PlannedTask

MOVER = replace(SKILL, objects=("puck", "goal", "button", "drawer"))


@pytest.mark.parametrize(
    ("words", "verb", "thing", "place"),
    [
        ("pick up the puck and place it at the goal", Verb.PUT, "puck", "goal"),
        ("push the puck to the goal", Verb.PUT, "puck", "goal"),
        ("lift the puck", Verb.TAKE, "puck", ""),
        ("press the button", Verb.PRESS, "button", ""),
        ("push the button down", Verb.PRESS, "button", ""),
        ("reach the goal", Verb.REACH, "goal", ""),
        ("open the drawer", None, "drawer", ""),
        ("do something nice", None, "", ""),
    ],
)
def test_what_words_mean_as_motions(words: str, verb: Verb | None, thing: str, place: str) -> None:
    meaning = meaning_of(PlannedTask(words, MOVER, "", words, 1.0))
    assert (meaning.verb, meaning.thing, meaning.place) == (verb, thing, place)
