"""Parameters of a goal: from an agent's request or a plan to the goal that is sent, and onto the disk and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from director_desk import SKILL, Desk

from openral_core.instant import Instant
from openral_reasoner.mission.agent_gate import Steering
from openral_reasoner.mission.agent_requests import Execute, Reply
from openral_reasoner.mission.attempt import RequestPlan
from openral_reasoner.mission.record import MissionWriter
from openral_reasoner.offline.planner import OfflinePlanner
from openral_reasoner.palette import Palette, SkillTask
from openral_reasoner.planner import Plan, PlannedTask

MOVE_TO = replace(
    SKILL,
    name="openral/rskill-motion-move-to",
    slug="motion_move_to",
    kind="ros_action",
    tasks=(),
    goal_params_schema={
        "type": "object",
        "properties": {"position": {"type": "array", "items": {"type": "number"}}},
        "required": ["position"],
        "additionalProperties": False,
    },
)
POSITION = {"position": [0.1, 0.6, 0.3]}
HOME = replace(
    SKILL,
    name="openral/rskill-motion-home",
    slug="motion_home",
    kind="ros_action",
    tasks=(SkillTask("home", ("go home", "return home")),),
    goal_params_schema={"type": "object", "properties": {}, "additionalProperties": False},
)


@dataclass
class Written:
    """A planner that has one plan."""

    params: Mapping[str, Any]

    def plan(self, sentence: str, palette: Palette) -> Plan:
        return Plan((PlannedTask(sentence, MOVE_TO, "", sentence, 1.0, params=self.params),))


def begun(desk: Desk) -> Steering:
    """A mission in the hands of an agent."""
    now = Instant(desk.now, desk.now)
    commands = desk.director.prompt("p", "over the drawer", now)
    (proposed,) = (each for each in commands if isinstance(each, RequestPlan))
    assert desk.director.stepwise.take_over(proposed.ticket, "an agent", desk.now)
    return Steering(desk.director, desk.mission)


def test_a_plan_carries_its_parameters_to_the_goal() -> None:
    desk = Desk(palette=Palette((MOVE_TO,)), planner=Written(POSITION), motions_by_hand=True)
    desk.say("over the drawer")
    assert json.loads(desk.sent[0].params_json) == POSITION


def test_a_goal_without_parameters_has_no_json() -> None:
    desk = Desk()
    desk.say("open the drawer")
    assert [goal.params_json for goal in desk.sent] == [""]


def test_parameters_survive_the_disk(tmp_path: Path) -> None:
    desk = Desk(palette=Palette((MOVE_TO,)), planner=Written(POSITION), motions_by_hand=True)
    desk.say("over the drawer")
    record = MissionWriter(tmp_path)
    record.state(desk.mission)
    found = record.unfinished(desk.log.append)
    record.close()
    assert found == desk.mission
    assert found.tasks[0].planned.params == POSITION


def test_an_agent_gives_parameters_and_may_repeat_a_motion_with_others() -> None:
    desk, replies = Desk(palette=Palette((MOVE_TO,)), motions_by_hand=True), list[Reply]()
    steering, now = begun(desk), Instant(desk.now, desk.now)
    asked = [{"position": [0.1, 0.6, height]} for height in (0.3, 0.2, 0.1)]
    for params in asked:
        request = Execute(MOVE_TO.name, "", "move over the drawer", params=params)
        desk.do(steering.handle(request, replies.append, now))
        desk.end("FAILED", "policy_error", "the hand stands short of the target")
        while desk.mission.tasks[-1].state.value != "abandoned":
            desk.run(1)
            desk.end("FAILED", "policy_error", "the hand stands short of the target")
        steering.tick(now)
    sent = [json.loads(goal.params_json) for goal in desk.sent]
    assert [params for index, params in enumerate(sent) if params not in sent[:index]] == asked
    assert len(replies) == len(asked)


@pytest.mark.parametrize("field", ["skill", "planned"])
def test_what_holds_parameters_can_be_hashed(field: str) -> None:
    held = {"skill": MOVE_TO, "planned": PlannedTask("a", MOVE_TO, "", "a", 1.0, params=POSITION)}[field]
    assert hash(held) == hash(replace(held))  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "position is missing"),
        ({"position": [0.1, 0.6, "a"]}, "position[2] is 'a'; send a value of type number"),
        ({"position": [0.1, 0.6, float("nan")]}, "position[2] is nan; send a finite number"),
        ({**POSITION, "sped": 1}, "unknown 'sped'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_before_anything_is_sent(
    params: Mapping[str, Any], words: str
) -> None:
    desk, replies = Desk(palette=Palette((MOVE_TO,)), motions_by_hand=True), list[Reply]()
    steering, now = begun(desk), Instant(desk.now, desk.now)
    request = Execute(MOVE_TO.name, "", "move over the drawer", params=params)
    desk.do(steering.handle(request, replies.append, now))
    assert desk.sent == []
    assert [reply.ok for reply in replies] == [False]
    assert words in replies[0].text


def test_a_motion_is_judged_by_its_own_result_and_by_no_reading() -> None:
    desk = Desk(palette=Palette((HOME, SKILL)), motions_by_hand=True)
    desk.say("go home, then open the drawer")
    assert [goal.skill.name for goal in desk.sent] == [HOME.name]
    desk.run(4, 0.99)  # the reward monitor was never shown a motion
    assert len(desk.sent) == 1
    desk.end("SUCCEEDED", "motion", "the hand is 1 mm from the target")
    desk.run(0.4, 0.2)
    assert [goal.skill.name for goal in desk.sent] == [HOME.name, SKILL.name]


@pytest.mark.parametrize("outcome", ["FAILED", "REJECTED", "STOPPED"])
def test_a_motion_that_did_not_arrive_is_not_done(outcome: str) -> None:
    desk = Desk(palette=Palette((HOME, SKILL)), motions_by_hand=True)
    desk.say("go home")
    desk.run(1, 0.99)
    desk.end(outcome, "motion", "the hand stands 3.1 cm short of the target")
    assert desk.mission.tasks[0].state.value != "done"
    assert any("3.1 cm short" in entry.reason for entry in desk.log)


@pytest.mark.parametrize(
    ("words", "skill"),
    [
        ("go home", HOME.name),
        ("Return home.", HOME.name),
        ("open the drawer", SKILL.name),
        ("open the drawer and then go home", SKILL.name),
    ],
)
def test_a_motion_is_chosen_by_its_very_words_alone(words: str, skill: str) -> None:
    plan = OfflinePlanner().plan(words, Palette((HOME, MOVE_TO, SKILL)))
    assert isinstance(plan, Plan)
    assert plan.tasks[0].skill.name == skill


@pytest.mark.parametrize("words", ["go to the house", "move the thing", "reach the thing", "stay at home"])
def test_other_words_choose_no_motion(words: str) -> None:
    plan = OfflinePlanner().plan(words, Palette((HOME, MOVE_TO, SKILL)))
    chosen = plan.tasks if isinstance(plan, Plan) else ()
    assert all(task.skill is SKILL for task in chosen)
