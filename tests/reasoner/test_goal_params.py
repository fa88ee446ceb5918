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
from openral_reasoner.mission.attempt import Propose
from openral_reasoner.mission.record import MissionWriter
from openral_reasoner.mission.request_queue import Execute, Reply
from openral_reasoner.mission.steering import Steering
from openral_reasoner.palette import Palette
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


@dataclass
class Written:
    """A planner that has one plan."""

    params: Mapping[str, Any]

    def plan(self, sentence: str, palette: Palette) -> Plan:
        return Plan((PlannedTask(sentence, MOVE_TO, "", sentence, 1.0, params=self.params),))


def test_a_plan_carries_its_parameters_to_the_goal() -> None:
    desk = Desk(palette=Palette((MOVE_TO,)), planner=Written(POSITION))
    desk.say("over the drawer")
    assert json.loads(desk.sent[0].params_json) == POSITION


def test_a_goal_without_parameters_has_no_json() -> None:
    desk = Desk()
    desk.say("open the drawer")
    assert [goal.params_json for goal in desk.sent] == [""]


def test_parameters_survive_the_disk(tmp_path: Path) -> None:
    desk = Desk(palette=Palette((MOVE_TO,)), planner=Written(POSITION))
    desk.say("over the drawer")
    record = MissionWriter(tmp_path)
    record.state(desk.mission)
    found = record.unfinished(desk.log.append)
    record.close()
    assert found == desk.mission
    assert found.tasks[0].planned.params == POSITION


def test_an_agent_gives_parameters_and_may_repeat_a_motion_with_others() -> None:
    desk, replies = Desk(palette=Palette((MOVE_TO,))), list[Reply]()
    now = Instant(desk.now, desk.now)
    (proposed,) = (
        each for each in desk.director.prompt("p", "over the drawer", now) if isinstance(each, Propose)
    )
    assert desk.director.steered(proposed.ticket, "an agent", desk.now)
    steering = Steering(desk.director)
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
