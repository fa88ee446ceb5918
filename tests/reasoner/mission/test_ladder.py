"""After a failed attempt: again, another skill, other steps, the operator, the end; each rung is in the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from director_desk import CONFIG, GATE, HOME, MOVE_TO, SKILL, Desk

from openral_core.instant import Instant
from openral_core.manifest import StartPose
from openral_core.progress_judgement import ProgressReading
from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.attempt import AskWorld
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.goal_report import GoalReport
from openral_reasoner.mission.ladder.experience import Experience
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette, Skill
from openral_reasoner.planner import Plan, PlannedTask, Proposal
from openral_reasoner.playbook_planner import PlaybookPlanner
from openral_rskill.playbook_procedure import Procedure

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


# -- ways that change something -----------------------------------------------------------------------


def started(*positions: tuple[float, float, float]) -> Skill:
    """The skill of the desk, beginning its tasks at a recorded place, and good with drawers."""
    starts = tuple(StartPose(position=position) for position in positions)
    return replace(SKILL, start_poses=starts, objects=("drawer", "handle"))


HERE = (0.0, 0.6, 0.2)


def locating(palette: Palette, **fields: Any) -> Desk:
    desk = Desk(palette=palette, **fields)
    desk.director.perception(can_locate=True)
    return desk


def test_the_hand_is_driven_to_where_the_skill_begins_before_every_attempt() -> None:
    desk = Desk(palette=Palette((started(HERE), HOME)))
    desk.say("open the drawer, then close it")
    [home] = [json.loads(goal.params_json) for goal in desk.driven]
    assert (home["position"], home["tolerance_m"]) == ([0.0, 0.6, 0.2], 0.02)
    assert "gripper" not in home, "what an earlier task took stays in the hand"
    desk.run(2, 0.9)
    assert len(desk.driven) == 2
    assert desk.mission.tasks[0].attempts == 1, "a motion is no attempt"


def test_a_motion_is_judged_by_its_own_measurement_not_by_the_monitor() -> None:
    desk = Desk(palette=Palette((started(HERE), HOME)), motion_ends="")
    desk.say("open the drawer")
    desk.director.reading(f"g{desk.driven[0].key}", ProgressReading(desk.now + 0.1, 1.0, 1.0), desk.now + 0.1)
    desk.run(3)
    assert (desk.sent, desk.mission.state.value) == ([], "active")
    desk.director.goal_ended(
        desk.driven[0].key, GoalReport("SUCCEEDED", "motion"), Instant(desk.now, desk.now)
    )
    desk.run(0.4)
    assert len(desk.sent) == 1


@pytest.mark.parametrize("ends", ["FAILED", ""])
def test_an_attempt_is_made_even_where_the_drive_before_it_failed(ends: str) -> None:
    desk = Desk(palette=Palette((started(HERE), HOME)), motion_ends=ends)
    desk.say("open the drawer")
    desk.run(10)  # a motion that never ends is ended after its deadline and some patience
    assert len(desk.sent) == 1
    assert any(e.kind == "prepare" and "did not work" in e.reason for e in desk.log)


def test_after_a_failure_home_then_above_the_object_then_another_skill_and_nothing_twice() -> None:
    other = replace(OTHER, objects=("drawer",))
    palette = Palette((started(HERE), other, HOME, MOVE_TO))
    desk = locating(palette, where=lambda words: (0.1, 0.7, 0.05) if words == "drawer" else None)
    desk.say("open the drawer")
    desk.run(60, 0.2)
    assert [goal.skill.name for goal in desk.sent] == [SKILL.name] * 3 + [other.name] * 3
    ways = [kind for kind in desk.kinds() if kind in ("retry", "home", "restage", "other skill")]
    assert ways == ["home", "restage", "other skill", "other skill", "home", "restage"]
    stages = [json.loads(goal.params_json)["position"] for goal in desk.driven if goal.skill is MOVE_TO]
    assert stages == [[0.1, 0.7, 0.22]] * 2, "17 cm above the object"
    assert "abandoned after 6 attempts" in desk.mission.message


def rising(desk: Desk, begin: float, end: float, seconds: float = 10.0) -> None:
    """Let progress rise from one value to another."""
    steps = int(2 * seconds)
    for step in range(steps + 1):
        desk.run(0.5, begin + (end - begin) * step / steps)


def test_an_attempt_that_gets_nearer_when_its_time_is_up_goes_on_from_where_the_arm_stands_once() -> None:
    desk = Desk(palette=Palette((started(HERE), HOME)))
    desk.say("open the drawer")
    driven = len(desk.driven)
    rising(desk, 0.3, 0.7)
    assert (len(desk.sent), len(desk.driven)) == (2, driven), "no drive home"
    assert "it was still getting nearer" in next(e.reason for e in desk.log if e.kind == "go on")
    rising(desk, 0.5, 0.78)
    assert (len(desk.sent), len(desk.driven)) == (3, driven + 1), "the second time from its start pose"
    assert [kind for kind in desk.kinds() if kind in ("go on", "home", "retry")] == ["go on", "home"]


@pytest.mark.parametrize(("begin", "end"), [(0.62, 0.62), (0.1, 0.45), (0.7, 0.5)])
def test_one_that_stands_or_has_not_got_far_does_not_go_on(begin: float, end: float) -> None:
    patient = GATE.model_copy(update={"default_patience_s": 30.0})
    desk = Desk(palette=Palette((started(HERE), HOME)))
    desk.director = Director(desk.log.append, gate=patient, config=desk.config)
    desk.director.palette(desk.palette, desk.now)
    desk.say("open the drawer")
    rising(desk, begin, end)
    assert "the deadline of 10.0 s passed" in next(e.reason for e in desk.log if e.kind == "home")
    assert "go on" not in desk.kinds()


def test_an_object_that_is_not_found_costs_no_attempt() -> None:
    desk = locating(Palette((started(HERE), HOME, MOVE_TO)), where=lambda words: None)
    desk.say("open the drawer")
    desk.run(30, 0.2)
    assert (len(desk.sent), desk.mission.tasks[0].attempts) == (2, 2)
    assert desk.mission.state.value == "failed"


def test_what_is_left_of_the_mission_s_time_decides_which_rungs_are_possible() -> None:
    short = CONFIG.model_copy(update={"mission_time_s": 12.0})
    desk = Desk(palette=Palette((started(HERE), HOME)), config=short)
    desk.say("open the drawer")
    desk.run(20, 0.2)
    assert len(desk.sent) == 1, "another attempt of 10 s and its way home of 6 s do not fit"
    assert any(e.kind == "time" for e in desk.log)


def test_what_worked_here_before_is_tried_first(tmp_path: Path) -> None:
    outcomes = Outcomes(tmp_path / "outcomes.json")
    for _ in range(5):
        outcomes.add(SKILL.name, "drawer-open-v3", "restage", success=True)
        outcomes.add(SKILL.name, "drawer-open-v3", "home", success=False)
    desk = Desk(palette=Palette((started(HERE), HOME, MOVE_TO)), where=lambda words: (0.1, 0.7, 0.05))
    desk.director = Director(desk.log.append, gate=GATE, config=CONFIG, experience=Experience(outcomes))
    desk.director.palette(desk.palette, desk.now)
    desk.director.perception(can_locate=True)
    desk.say("open the drawer")
    desk.run(4, 0.2)
    assert [kind for kind in desk.kinds() if kind in ("home", "restage")] == ["restage"]
    desk.run(2, 0.9)
    kept = {(row.task, row.rung): (row.successes, row.tries) for row in outcomes.rows()}
    assert kept["drawer-open-v3", "first"] == (0, 1)
    assert kept["drawer-open-v3", "restage"] == (6, 6)


def test_motions_alone_are_no_palette_to_plan_with_while_policies_are_still_to_come() -> None:
    desk = Desk(palette=Palette((HOME,)))
    desk.director = Director(desk.log.append, gate=GATE, config=CONFIG, awaits_policies=True)
    desk.director.palette(desk.palette, desk.now)
    desk.say("open the drawer")
    desk.run(2)
    assert desk.mission.state.value == "active"
    desk.director.palette(Palette((SKILL, HOME)), desk.now)
    desk.run(1)
    assert len(desk.sent) == 1


@pytest.mark.parametrize(("sees", "state"), [(True, "done"), (False, "failed"), (None, "failed")])
def test_motions_in_the_place_of_a_task_are_no_proof_that_it_is_done(sees: bool | None, state: str) -> None:
    asked: list[str] = []

    def world(question: AskWorld) -> bool | None:
        asked.append(question.condition.task)
        return sees

    steps = Plan(tuple(PlannedTask(motion.name, motion, "", "go", 1.0) for motion in (MOVE_TO, HOME)))
    book = Procedure("openral/rskill-by-hand", "", "", failures=("open the drawer",), steps=("a", "b"))
    desk = Desk(palette=Palette((SKILL, HOME, MOVE_TO), playbooks=(book,)), world=world)
    desk.director.monitor(silent=False, there=True)
    plan = desk.planner

    def planned(words: str, palette: Palette) -> Proposal:
        by_hand = palette.recoveries and words == "open the drawer"
        return steps if by_hand else plan.plan(words, palette)

    desk.planner = Scripted(planned)
    desk.say("open the drawer")
    desk.run(20, 0.2)
    assert [goal.skill for goal in desk.driven[-2:]] == [MOVE_TO, HOME]
    assert asked == ["open the drawer"], "the task itself, not its last motion"
    assert desk.mission.state.value == state
    assert any("nobody saw" in entry.reason for entry in desk.log)


@dataclass
class Scripted:
    """A planner that is one function."""

    plan: Callable[[str, Palette], Proposal]
