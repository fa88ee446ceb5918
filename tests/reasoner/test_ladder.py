"""After a failed attempt: again, another skill, other steps, the operator, the end; each rung is in the log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from director_desk import CONFIG, SKILL, Desk

from openral_core.instant import Instant
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette
from openral_reasoner.playbook import Procedure
from openral_reasoner.playbook_planner import PlaybookPlanner

OTHER = replace(SKILL, name="openral/rskill-other", slug="other", node="/openral/policy/other")
ASKING = CONFIG.model_copy(update={"ask_patience_s": 20.0})
AGAIN = Procedure(
    "openral/rskill-free-drawer",
    "",
    "",
    failures=("open the drawer",),
    steps=("close the drawer", "open the drawer"),
)


def stall(desk: Desk, times: int) -> None:
    """Let so many attempts end without success; there must be an attempt each time."""
    for _ in range(times):
        before = len(desk.sent)
        desk.end("FAILED", "policy_error", "it slipped")
        desk.run(0.4)
        assert len(desk.sent) <= before + 1


def test_another_skill_tries_when_the_first_has_had_its_attempts() -> None:
    desk = Desk(palette=Palette((SKILL, OTHER)))
    desk.say("open the drawer")
    stall(desk, 3)
    assert [goal.skill.name for goal in desk.sent] == [SKILL.name] * 3 + [OTHER.name]
    desk.run(2, 0.9)
    assert desk.mission.state.value == "done"
    [task] = desk.mission.tasks
    assert (task.attempts, task.tried) == (4, [SKILL.name])
    assert [kind for kind in desk.kinds() if kind in ("retry", "other skill")] == ["retry"] * 2 + [
        "other skill"
    ] * 2


def test_every_skill_has_its_attempts_and_then_the_task_is_abandoned() -> None:
    desk = Desk(palette=Palette((SKILL, OTHER)))
    desk.say("open the drawer")
    stall(desk, 6)
    assert desk.mission.state.value == "failed"
    assert (
        "abandoned after 6 attempts: openral/rskill-other ended: policy_error: it slipped"
        in desk.mission.message
    )


def test_a_skill_that_went_away_for_good_gives_way_to_another() -> None:
    desk = Desk(palette=Palette((SKILL, OTHER)))
    desk.say("open the drawer")
    desk.director.palette(Palette((OTHER,)), desk.now)
    desk.director.skill_lost(SKILL.name, "the policy node went away", Instant(desk.now, desk.now))
    desk.run(5)
    assert [goal.skill.name for goal in desk.sent] == [SKILL.name, OTHER.name]


def test_other_steps_take_the_place_of_a_task_that_failed_once() -> None:
    desk = Desk(palette=Palette((SKILL,), playbooks=(AGAIN,)), planner=PlaybookPlanner(OfflinePlanner()))
    desk.say("open the drawer")
    stall(desk, 3)
    assert [(task.planned.text, task.depth) for task in desk.mission.tasks] == [
        ("close the drawer", 1),
        ("open the drawer", 1),
    ]
    assert desk.sent[-1].instruction == "close the drawer"
    desk.run(2, 0.9)
    stall(desk, 3)
    assert [task.depth for task in desk.mission.tasks] == [1, 2, 2], (
        "the step that failed has steps once more"
    )
    desk.run(2, 0.9)
    stall(desk, 3)
    assert desk.mission.state.value == "failed", "and not a third time"
    assert desk.kinds().count("decompose") == 4


@pytest.mark.parametrize(
    ("answer", "state", "goals"),
    [("try again", "active", 4), ("give up", "failed", 3), ("skip it", "active", 4), (None, "failed", 3)],
)
def test_the_operator_is_asked_where_one_is_there(answer: str | None, state: str, goals: int) -> None:
    desk = Desk(config=ASKING)
    desk.say("open the drawer, then close it")
    stall(desk, 3)
    assert "Retry, skip, or give up?" in desk.mission.question
    assert desk.director.question == desk.mission.question
    if answer is None:
        desk.run(21)
    else:
        desk.say(answer, "answer")
    assert desk.mission.id == "p", "an answer is no order"
    assert (desk.mission.state.value, len(desk.sent), desk.mission.question) == (state, goals, "")
    wanted = {"try again": "open the drawer", "skip it": "close the drawer"}.get(answer or "")
    assert wanted is None or desk.sent[-1].instruction == wanted
    if answer == "skip it":
        desk.run(2, 0.9)
        assert desk.mission.message == "mission not done: 1 of 2 tasks, the operator left the others out"


def test_another_order_is_no_answer() -> None:
    desk = Desk(config=ASKING)
    desk.say("open the drawer", "a")
    stall(desk, 3)
    desk.say("close the drawer", "b")
    assert (desk.mission.id, desk.sent[-1].instruction, desk.director.question) == (
        "b",
        "close the drawer",
        "",
    )


@pytest.mark.parametrize(("answer", "state"), [("yes", "done"), ("no", "active"), (None, "failed")])
def test_only_the_operator_can_call_done_what_nobody_saw(answer: str | None, state: str) -> None:
    desk = Desk(config=ASKING)
    desk.say("open the drawer")
    desk.run(10.5)  # no reading at all
    assert 'Is "open the drawer" done, yes or no?' in desk.mission.question
    if answer is None:
        desk.run(21)
    else:
        desk.say(answer, "answer")
    assert desk.mission.state.value == state


def test_nobody_is_asked_where_nobody_is() -> None:
    desk = Desk()
    desk.say("open the drawer")
    stall(desk, 3)
    assert desk.mission.state.value == "failed"
    assert "question" not in desk.kinds()
