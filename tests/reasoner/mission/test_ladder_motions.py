"""After a failed attempt a motion puts the object into the hand, or motions do it all; the reward monitor judges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from director_desk import CONFIG, GATE, HOME, MOVE_TO, SKILL, Desk, motion

from openral_core.instant import Instant
from openral_core.manifest import StartPose
from openral_core.stop_conditions import FingerTravel
from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.agent_gate import Steering, SteeringLimits
from openral_reasoner.mission.agent_requests import Execute, Reply
from openral_reasoner.mission.attempt import AskWorld, DirectorConfig
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.ladder.experience import FIRST, Experience
from openral_reasoner.mission.ladder.preparation import MOST_TAKES
from openral_reasoner.mission.ladder.task_motions import Verb, meaning_of
from openral_reasoner.palette import Palette, Skill, SkillTask
from openral_reasoner.planner import PlannedTask

PICK, PLACE, NUDGE = motion("pick_at"), motion("place_at"), motion("nudge")
MOTIONS = (HOME, MOVE_TO, PICK, PLACE, NUDGE)
PLACING = "put the puck at the goal"
MOVER = replace(
    SKILL,
    objects=("puck", "goal", "button", "drawer"),
    tasks=(
        SkillTask("pick-place-v3", (PLACING,)),
        SkillTask("lift", ("lift the puck",)),
        SkillTask("button-press-v3", ("press the button",)),
        SkillTask("drawer-open-v3", ("open the drawer",)),
    ),
)
PUCK, TRAY, HIGH = (0.1, 0.7, 0.02), (0.0, 0.8, 0.04), (0.0, 0.8, 0.2)
BUTTON = (0.0, 0.6, 0.12)


BESIDE = 0.07
"""[m] from the goal, from which the measured distance says neither that the puck is there nor that it is not."""


def desk_with(
    *skills: Skill,
    sees: bool | None = True,
    config: DirectorConfig = CONFIG,
    lands: float = BESIDE,
    **found: Any,
) -> Desk:
    """A desk whose locator finds what is named, with a reward monitor that sees motions done or not.

    Motions that carry the puck bring it to within `lands` [m] of the goal.
    """

    def where(words: str) -> tuple[float, float, float] | None:
        there = {"puck": PUCK, **found}
        if words == "puck" and any(goal.skill in (PLACE, MOVE_TO) for goal in desk.driven):
            x, y, z = there["goal"]
            return (x + lands, y, z)
        return there.get(words)

    asked: list[str] = []

    def world(question: AskWorld) -> bool | None:
        asked.append(question.condition.task)
        return sees

    desk = Desk(palette=Palette((MOVER, *(skills or MOTIONS))), where=where, world=world, config=config)
    desk.director.perception(can_locate=True)
    desk.director.monitor(silent=False, there=True)
    return desk


def ways(desk: Desk) -> list[str]:
    return [e.kind for e in desk.log if e.kind in ("grasp", "motions", "home", "restage", "abandoned")]


def params(desk: Desk, wanted: Skill) -> list[dict[str, Any]]:
    return [json.loads(goal.params_json) for goal in desk.driven if goal.skill == wanted]


def remember(desk: Desk, outcomes: Outcomes) -> None:
    """Give a desk a director who knows what worked before, and can have things located."""
    desk.director = Director(desk.log.append, gate=GATE, config=CONFIG, experience=Experience(outcomes))
    desk.director.palette(desk.palette, desk.now)
    desk.director.perception(can_locate=True)


def fail(desk: Desk, order: str) -> None:
    """Order something, and let its first attempt come to nothing, and the next way begin."""
    desk.say(order)
    desk.run(4.4, 0.2)


def test_a_place_on_the_table_is_reached_by_motions_and_the_monitor_says_whether_it_is_done() -> None:
    desk = desk_with(goal=TRAY)
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven] == [HOME, PICK, PLACE]
    assert params(desk, PICK)[0]["point"] == list(PUCK)
    assert params(desk, PLACE)[0]["point"] == [0.0, 0.8, 0.06]
    assert desk.mission.state.value == "done", desk.mission.message
    assert (len(desk.sent), desk.mission.tasks[0].attempts) == (1, 2)
    [words] = [e.reason for e in desk.log if e.kind == "motions"]
    assert "failed" in words
    assert "now by motions: the puck is taken, and put at the goal" in words


@pytest.mark.parametrize("sees", [False, None])
def test_motions_that_arrived_are_no_success(sees: bool | None) -> None:
    desk = desk_with(sees=sees, goal=TRAY)
    fail(desk, PLACING)
    assert ways(desk)[:2] == ["motions", "grasp"]
    assert desk.mission.state.value == "active"


@pytest.mark.parametrize("sees", [False, None])
def test_what_lies_at_its_place_by_measure_is_done_whatever_the_monitor_thinks(sees: bool | None) -> None:
    desk = desk_with(sees=sees, goal=TRAY, lands=0.02)
    fail(desk, PLACING)
    assert desk.mission.state.value == "done"
    assert "measured 2.0 cm from the goal" in desk.mission.tasks[0].outcome


def test_what_lies_elsewhere_by_measure_is_not_done_whatever_the_monitor_thinks() -> None:
    by_motions = desk_with(sees=True, goal=TRAY, lands=0.12)
    fail(by_motions, PLACING)
    assert ways(by_motions)[:2] == ["motions", "grasp"]
    by_skill = desk_with(goal=TRAY)
    by_skill.say(PLACING)
    by_skill.run(2, 0.95)
    [told] = [e.reason for e in by_skill.log if e.kind == "motions"]
    assert "the puck was measured 14.3 cm from the goal: it is not done" in told


def test_where_the_locator_does_not_see_both_the_monitor_decides() -> None:
    desk = desk_with()
    desk.say(PLACING)
    desk.run(2, 0.95)
    assert desk.mission.state.value == "done"


@pytest.mark.parametrize(("off_m", "state"), [(0.02, "done"), (0.06, "active")])
def test_where_the_locator_is_in_doubt_the_hand_that_holds_it_says_where_it_is(
    off_m: float, state: str
) -> None:
    desk = desk_with(sees=False, goal=HIGH, lands=BESIDE)
    desk.opening_m = lambda goal: 0.04
    desk.hand = (HIGH[0], HIGH[1], HIGH[2] + off_m)
    fail(desk, PLACING)
    assert desk.mission.state.value == state
    assert any("the hand that holds it was measured 2.0 cm" in e.reason for e in desk.log) == (
        state == "done"
    )


def test_a_thing_that_is_elsewhere_by_measure_is_not_where_the_hand_is() -> None:
    desk = desk_with(sees=False, goal=HIGH, lands=0.12)
    desk.opening_m, desk.hand = (lambda goal: 0.04), (HIGH[0], HIGH[1], HIGH[2] + 0.02)
    fail(desk, PLACING)
    assert desk.mission.state.value == "active"


def test_with_an_operator_what_nobody_saw_is_asked_and_not_tried_again() -> None:
    desk = desk_with(sees=None, goal=TRAY, config=CONFIG.model_copy(update={"ask_patience_s": 30.0}))
    fail(desk, PLACING)
    assert (ways(desk), desk.director.question.split(",")[0]) == (["motions"], f'Is "{PLACING}" done')


def test_a_thing_is_held_where_its_place_is_in_the_air() -> None:
    desk = desk_with(goal=HIGH)
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven] == [HOME, PICK, MOVE_TO]
    assert params(desk, MOVE_TO)[0]["position"] == [0.0, 0.8, 0.22]


def test_where_the_place_is_not_found_nothing_is_taken_and_the_skill_goes_on_with_the_thing_in_the_hand() -> (
    None
):
    desk = desk_with()
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven] == [HOME, HOME, PICK, HOME], (
        "for the way that was not possible the hand went out of the picture and no further"
    )
    assert any(e.kind == "prepare" and "it did not work: the fake says so" in e.reason for e in desk.log)
    assert ways(desk) == ["motions", "grasp"]
    assert len(desk.sent) == 2
    desk.run(2, 0.9)
    assert desk.mission.state.value == "done"


def test_a_lifted_thing_and_a_pressed_button() -> None:
    lifting = desk_with()
    fail(lifting, "lift the puck")
    assert (ways(lifting), params(lifting, PICK)[0]["lift_m"]) == (["motions"], 0.15)
    pressing = desk_with(button=BUTTON)
    pressing.motion_fails = (NUDGE,)
    fail(pressing, "press the button")
    assert [goal.skill for goal in pressing.driven] == [HOME, MOVE_TO, NUDGE]
    assert params(pressing, MOVE_TO)[0] == {
        "position": [0.0, 0.6, 0.18],
        "clearance_m": 0.05,
        "gripper": "closed",
    }
    assert pressing.mission.state.value == "done", "a button stops the hand, which is what was wanted"


def test_a_motion_that_fails_ends_its_way_and_every_way_is_gone_once() -> None:
    desk = desk_with(goal=TRAY)
    desk.motion_fails = (PICK,)
    desk.say(PLACING)
    desk.run(80, 0.2)
    assert ways(desk) == ["motions", "grasp", "home", "restage", "abandoned"]
    assert [goal.skill for goal in desk.driven] == [HOME, PICK] * 2 * MOST_TAKES + [HOME, MOVE_TO]
    assert len(desk.sent) == 3, "without the thing in the hand the attempt would be the one that failed"


def test_a_rung_that_is_left_out_is_never_climbed() -> None:
    desk = desk_with(goal=TRAY, config=CONFIG.model_copy(update={"left_out": ("motions", "restage")}))
    desk.say(PLACING)
    desk.run(80, 0.2)
    assert ways(desk) == ["grasp", "home", "abandoned"]


def test_what_was_lost_on_the_way_is_looked_for_and_taken_anew() -> None:
    desk = desk_with(goal=HIGH, lands=0.02)
    openings = iter([0.04, 0.04, 0.03, 0.04, 0.04, 0.04])
    desk.opening_m = lambda goal: next(
        openings
    )  # of home, of the grasp, and of the way with nothing left in it
    fail(desk, PLACING)
    lost, found = [HOME, PICK, MOVE_TO], [HOME, PICK, PLACE]  # where it lies now is as high as the goal
    assert [goal.skill for goal in desk.driven] == [*lost, *found]
    looks = [e.reason for e in desk.log if e.kind == "prepare" and e.reason.startswith("where is")]
    assert looks == ['where is "puck"?', 'where is "goal"?'] * 2
    assert any("3.0 cm apart, and were 4.0 cm when they took it" in e.reason for e in desk.log)
    assert (ways(desk), desk.mission.state.value) == (["motions"], "done")


def test_what_is_not_seen_is_looked_for_once_more_with_the_hand_raised() -> None:
    desk = desk_with(goal=TRAY)
    desk.hand, raised = (0.0, 0.6, 0.2), [0.0, 0.6, 0.4]
    seen = desk.where

    def behind_the_hand(words: str) -> tuple[float, float, float] | None:
        higher = any(position == raised for position in positions(desk))
        return seen(words) if higher or words != "puck" else None

    desk.where = behind_the_hand
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven] == [HOME, HOME, PICK, PLACE]
    assert positions(desk)[1] == raised
    looks = [e.reason for e in desk.log if e.kind == "prepare" and e.reason.startswith("where is")]
    assert looks == ['where is "puck"?', 'where is "puck"?', 'where is "goal"?']


def test_what_is_not_seen_from_elsewhere_either_is_not_looked_for_again() -> None:
    desk = desk_with(puck=None)
    desk.hand = (0.0, 0.6, 0.2)
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven[:2]] == [HOME, HOME]
    looks = [e.kind == "prepare" and e.reason.startswith("where is") for e in desk.log]
    failed = [number for number, e in enumerate(desk.log) if e.reason == "it did not work: the fake says so"]
    assert looks[: failed[0]].count(True) == 2


def test_after_a_grasp_that_failed_the_thing_alone_is_looked_for_from_above_it() -> None:
    start = StartPose(position=(0.0, 0.6, 0.2), tolerance_m=0.02)
    mover = replace(MOVER, start_poses=(start,))
    desk = desk_with(goal=TRAY)
    desk.director.palette(Palette((mover, *MOTIONS)), desk.now)
    desk.hand, desk.motion_fails = (0.1, 0.7, 0.05), (PICK,)
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven[1:7]] == [HOME, PICK, HOME, PICK, HOME, PICK]
    assert positions(desk)[2:4] == [[0.1, 0.7, 0.2]] * 2
    looks = [e.reason for e in desk.log if e.kind == "prepare" and e.reason.startswith("where is")]
    assert looks[:4] == ['where is "puck"?', 'where is "goal"?', 'where is "puck"?', 'where is "puck"?']


def positions(desk: Desk) -> list[list[float]]:
    """Where the hand was sent by the motion home; empty lists: to the scene's home."""
    return [told.get("position", []) for told in params(desk, HOME)]


@pytest.mark.parametrize(
    ("order", "skills", "locates", "why"),
    [
        ("open the drawer", MOTIONS, True, "no verb to take, put, press or reach"),
        (PLACING, (HOME, MOVE_TO), True, "there is no motion pick_at here"),
        (PLACING, MOTIONS, False, "nobody here answers where a thing is"),
    ],
)
def test_the_operator_hears_why_motions_are_not_possible(
    order: str, skills: tuple[Skill, ...], locates: bool, why: str
) -> None:
    desk = desk_with(*skills)
    desk.director.perception(can_locate=locates)
    desk.say(order)
    desk.run(40, 0.2)
    told = [e.reason for e in desk.log if e.kind == "motions"]
    assert len(told) == 1
    assert told[0].startswith("not possible: ")
    assert why in told[0]


def test_what_is_left_of_the_mission_s_time_may_not_be_enough_for_motions() -> None:
    late = desk_with(goal=TRAY, config=CONFIG.model_copy(update={"mission_time_s": 14.0}))
    fail(late, PLACING)
    assert (late.driven, late.mission.state.value) == ([], "failed")
    assert any(e.kind == "motions" and "s are left" in e.reason for e in late.log)


def test_motions_do_it_where_the_skill_is_gone_for_good() -> None:
    desk = desk_with(goal=TRAY)
    desk.say(PLACING)
    desk.director.palette(Palette(MOTIONS), desk.now)
    desk.director.skill_lost(MOVER.name, "the policy node went away", Instant(desk.now, desk.now))
    desk.run(30)
    assert [goal.skill for goal in desk.driven] == [HOME, PICK, PLACE]
    assert desk.mission.state.value == "done"


def test_what_a_way_was_worth_is_counted(tmp_path: Path) -> None:
    desk = desk_with(goal=TRAY)
    outcomes = Outcomes(tmp_path / "outcomes.json")
    remember(desk, outcomes)
    desk.director.monitor(silent=False, there=True)
    fail(desk, PLACING)
    assert [(row.rung, row.successes, row.tries) for row in outcomes.rows()] == [
        ("first", 0, 1),
        ("motions", 1, 1),
    ]


@pytest.mark.parametrize(
    ("motions", "skill", "first"),
    [((9, 9), (2, 9), "motions"), ((2, 9), (9, 9), ""), ((1, 1), (0, 0), ""), ((0, 0), (0, 9), "motions")],
)
def test_counts_choose_what_is_tried_first(
    tmp_path: Path, motions: tuple[int, int], skill: tuple[int, int], first: str
) -> None:
    outcomes = Outcomes(tmp_path / "outcomes.json")
    for way, (worked, tries) in (("motions", motions), (FIRST, skill)):
        for number in range(tries):
            outcomes.add(MOVER.name, "pick-place-v3", way, number < worked)
    desk = desk_with(goal=TRAY, lands=0.02)
    remember(desk, outcomes)
    desk.say(PLACING)
    desk.run(1, 0.2)
    assert desk.mission.tasks[0].way == first
    assert bool(desk.sent) is not bool(first)
    if first and motions[1]:
        assert "that worked 9 of 9 times before" in next(e.reason for e in desk.log if e.kind == "motions")


def experienced(desk: Desk, tmp_path: Path) -> Outcomes:
    """Give a desk a director who has read that motions worked nine times of nine; return what it has read."""
    outcomes = Outcomes(tmp_path / "outcomes.json")
    for _ in range(9):
        outcomes.add(MOVER.name, "pick-place-v3", "motions", success=True)
    remember(desk, Outcomes(outcomes.path, keeps=False))
    return outcomes


def test_a_task_that_motions_do_first_began_with_the_first_of_them(tmp_path: Path) -> None:
    desk = desk_with(goal=TRAY, lands=0.02)
    experienced(desk, tmp_path)
    desk.motion_ends = ""
    desk.say(PLACING)
    desk.run(1, 0.2)
    assert len(desk.driven) == 1
    assert desk.mission.tasks[0].started_s == next(e.stamp_s for e in desk.log if e.kind == "motions") > 0.0


def test_what_comes_after_motions_that_failed_is_the_skill_as_it_was_planned(tmp_path: Path) -> None:
    desk = desk_with(goal=TRAY)
    desk.motion_fails = (PICK,)
    outcomes = experienced(desk, tmp_path)
    desk.say(PLACING)
    desk.run(1, 0.2)
    assert (ways(desk), len(desk.sent)) == (["motions", "home"], 1)
    assert [row.tries for row in outcomes.rows()] == [9], "counts that are only read stay as they are"


@pytest.mark.parametrize(
    ("words", "verb", "thing", "place"),
    [
        ("stack the red cube on the green cube", Verb.PUT, "red cube", "green cube"),
        ("put the green cube on the red cube", Verb.PUT, "green cube", "red cube"),
        ("lift the cube", Verb.TAKE, "cube", ""),
        ("raise the red cube", Verb.TAKE, "red cube", ""),
        ("put the can into its bin", Verb.PUT, "can", "bin"),
        ("take the handle", Verb.TAKE, "door handle", ""),
        ("take the drawer handle", Verb.TAKE, "drawer handle", ""),
    ],
)
def test_two_things_of_one_noun_are_told_apart_by_the_words_before_it(
    words: str, verb: Verb, thing: str, place: str
) -> None:
    things = ("cube", "red cube", "green cube", "can", "bin", "door handle", "drawer handle")
    meaning = meaning_of(PlannedTask(words, replace(MOVER, objects=things), "", words, 1.0))
    assert (meaning.verb, meaning.thing, meaning.place) == (verb, thing, place)


# -- what the fingers say against it ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaves", "gripper_m", "state"),
    [
        ("object", 0.03, "active"),
        ("object", 0.1, "active"),
        ("object", 0.045, "done"),
        ("object", None, "done"),
        ("anything", 0.03, "done"),
    ],
)
def test_a_task_that_ends_with_a_thing_in_the_hand_is_not_done_with_an_empty_one(
    leaves: str, gripper_m: float | None, state: str
) -> None:
    holding = replace(MOVER, tasks=(SkillTask("lift", ("lift the puck",), leaves),))
    desk = Desk(palette=Palette((holding, HOME)), gripper_m=gripper_m)
    fingers = FingerTravel(closed_m=0.03, open_m=0.1)
    desk.director = Director(desk.log.append, gate=GATE, config=CONFIG, fingers=fingers)
    desk.director.palette(desk.palette, desk.now)
    desk.say("lift the puck")
    desk.run(1.7, 0.9)
    assert desk.mission.state.value == state, desk.mission.message
    assert any("hold nothing" in entry.reason for entry in desk.log) is (state != "done")
    assert (desk.kinds().count("home") == 1) is (state != "done"), "the ladder goes on"


def test_what_the_task_leaves_in_the_hand_is_held_by_motions() -> None:
    desk = desk_with(goal=TRAY)
    holding = replace(MOVER, tasks=(SkillTask("pick-place-v3", (PLACING,), "object"),))
    desk.director.palette(Palette((holding, *MOTIONS)), desk.now)
    fail(desk, PLACING)
    assert [goal.skill for goal in desk.driven] == [HOME, PICK, MOVE_TO]


# -- an agent chooses the same ways ------------------------------------------------------------------------------


class Agent:
    """A mission in the hands of an agent, one call after the other."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        assert desk.director.steered_from_outside("m", "a mission", Instant(desk.now, desk.now)) == ""
        self.steering = Steering(desk.director, desk.mission, SteeringLimits(max_repeats=9))
        self.replies: list[Reply] = []

    def run(self, way: str = "", progress: float = 0.2) -> str:
        """Try the task in a way, and return what the agent is told."""
        desk, before = self.desk, len(self.replies)
        request = Execute(MOVER.name, "pick-place-v3", "", way=way)
        desk.do(self.steering.handle(request, self.replies.append, Instant(desk.now, desk.now)))
        for _ in range(20):
            if len(self.replies) > before:
                break
            desk.run(1, progress)
            self.steering.tick(Instant(desk.now, desk.now))
        return self.replies[before].text


def test_an_agent_gets_the_same_ways_once_each_after_a_failure() -> None:
    agent = Agent(desk_with(goal=TRAY))
    assert "motions is for a task that has failed" in agent.run("motions")
    assert agent.run().endswith(
        "; ways to try it anew: home, restage, grasp, motions (tasks left: 19, questions left: 3)"
    )
    assert "there is no way 'magic'" in agent.run("magic")
    assert agent.run("home").startswith("not verified as done")
    assert "home was tried for it already" in agent.run("home")
    assert agent.run("motions").startswith("done, verified by the reward monitor")
    agent.desk.director.stepwise.finish(
        agent.desk.mission, True, "it is there", Instant(agent.desk.now, agent.desk.now)
    )
    assert agent.desk.mission.state.value == "done"


def test_an_agent_s_motions_are_not_done_because_they_arrived() -> None:
    agent = Agent(desk_with(goal=TRAY, sees=False))
    agent.run()
    assert agent.run("motions").startswith("not verified as done")
    assert "; ways to try it anew: home, restage (" in agent.run("grasp")
