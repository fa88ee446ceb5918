"""How people speak to a robot, task by task, and what comes near an order and is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from openral_reasoner.evaluation.suite import FREE, load_suite
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.offline.rules.parser import parse
from openral_reasoner.offline.rules.structure import NotUnderstood
from openral_reasoner.planner import Ask, Plan, Proposal

FOLDER = Path(__file__).parent
PALETTE = load_suite(FREE[0]).palette
UNDERSTOOD = 0.93
"""Share of a task's sentences that are done unasked."""
SPOKEN: dict[str, list[str]] = yaml.safe_load((FOLDER / "phrases_free.yaml").read_text())
NEAR_MISSES: list[str] = yaml.safe_load((FOLDER / "near_misses.yaml").read_text())


def planned(sentence: str) -> Proposal:
    return OfflinePlanner().plan(sentence, PALETTE)


def tasks(proposal: Proposal) -> list[str]:
    return [task.skill_task for task in proposal.tasks] if isinstance(proposal, Plan) else []


def test_most_of_free_speech_is_understood_and_none_done_wrongly() -> None:
    missed: list[str] = []
    for task, sentences in SPOKEN.items():
        for sentence in sentences:
            done = tasks(planned(sentence))
            assert done in ([], [task]), sentence
            missed += [] if done else [sentence]
    assert len(missed) <= (1 - UNDERSTOOD) * sum(map(len, SPOKEN.values())), missed


def test_what_comes_near_an_order_moves_nothing() -> None:
    moved = {sentence: done for sentence in NEAR_MISSES if (done := tasks(planned(sentence)))}
    assert moved == {}


@pytest.mark.parametrize("name", ["drawer", "window"])
@pytest.mark.parametrize(
    ("wanted", "kept"), [("open", "closed"), ("closed", "open")], ids=["to open", "to close"]
)
def test_a_state_that_must_not_last_is_ended_and_one_that_must_not_come_is_left(
    name: str, wanted: str, kept: str
) -> None:
    verb = wanted.removesuffix("d")
    forbidden = {"open": "opened", "closed": "closed"}[wanted]
    for said in ("must not stay", "should not be left", "must not remain"):
        assert tasks(planned(f"the {name} {said} {kept}")) == [f"{name}-{verb}-v3"]
    for said in ("must stay", "should be left", "may remain"):
        assert tasks(planned(f"the {name} {said} {kept}")) == []
    for said in ("must not be", "should not be", "is not to be"):
        assert tasks(planned(f"the {name} {said} {forbidden}")) == []


def test_how_a_thing_is_moved_must_fit_what_is_to_come_of_it() -> None:
    assert tasks(planned("slide the window across so it's closed")) == ["window-close-v3"]
    assert tasks(planned("push the drawer until it is flush")) == ["drawer-close-v3"]
    assert tasks(planned("push the drawer so that it opens")) == []
    assert tasks(planned("close the drawer so that the window opens")) == []


def test_taking_a_thing_to_put_it_somewhere_is_one_task_where_the_skill_does_both() -> None:
    assert tasks(planned("take the red cube and put it on the green one")) == ["Stack"]
    assert tasks(planned("lift the cube, then put the can in the bin")) == ["Lift", "PickPlaceCan"]


def test_another_colour_is_another_thing_where_colours_tell_things_apart() -> None:
    assert tasks(planned("put the red cube on the blue cube")) == []
    assert tasks(planned("press the red button")) == ["button-press-topdown-v3"]


def test_what_is_doubtful_is_asked() -> None:
    for sentence in ("push the puck", "slide the window"):
        assert isinstance(planned(sentence), Ask), sentence


def test_what_a_policy_was_trained_on_is_said_to_it_as_it_was_said() -> None:
    """A skill that is told words is told "pick up", and not what the rules make of it."""
    for order in (
        "pick up the black bowl",
        "pick up the puck",
        "open the drawer",
        "push the puck to the goal",
    ):
        parsed = parse(order)
        assert not isinstance(parsed, NotUnderstood)
        assert parsed[0].tasks == (order,)
