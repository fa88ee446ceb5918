"""Goals with stop conditions and a step budget: how they are asked for, and what their end means for the task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pytest
from director_desk import SKILL, Desk
from openral.action import ExecuteSkill

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading
from openral_core.stop_conditions import parse_stop_when
from openral_reasoner.mission.agent_gate import Steering
from openral_reasoner.mission.agent_requests import Execute, Reply
from openral_reasoner.mission.attempt import RequestPlan, SendGoal
from openral_reasoner.mission.record import MissionWriter
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan, PlannedTask
from openral_reasoner.ros.skill_client import goal_of_command, report_of

LIFTED = parse_stop_when('[{"name": "lifted"}, {"name": "reached", "position": [0, 0.6, 0.2]}]')


@dataclass
class Stopping:
    """A planner that has one plan: a task with stop conditions and a budget."""

    def plan(self, sentence: str, palette: Palette) -> Plan:
        task = PlannedTask(sentence, SKILL, "drawer-open-v3", sentence, 1.0, stop_when=LIFTED, max_steps=160)
        return Plan((task,))


def attempt(*progress: float) -> Desk:
    """Return a desk whose goal has run for a second with these readings."""
    desk = Desk(planner=Stopping())
    desk.say("pick it up")
    desk.run(1, *progress)
    return desk


def reasons(desk: Desk, kind: str) -> list[str]:
    return [entry.reason for entry in desk.log if entry.kind == kind]


def test_a_plans_conditions_go_to_the_goal_and_a_plain_goal_has_none() -> None:
    assert [(goal.stop_when, goal.max_steps) for goal in attempt().sent] == [(LIFTED, 160)]
    plain = Desk()
    plain.say("open the drawer")
    assert [(goal.stop_when, goal.max_steps) for goal in plain.sent] == [((), 0)]


def test_an_agents_conditions_go_to_the_goal() -> None:
    desk, replies = Desk(), list[Reply]()
    now = Instant(desk.now, desk.now)
    [proposed] = [
        each for each in desk.director.prompt("p", "pick it up", now) if isinstance(each, RequestPlan)
    ]
    assert desk.director.stepwise.take_over(proposed.ticket, "an agent", desk.now)
    request = Execute(SKILL.name, "drawer-open-v3", "pick it up", stop_when=LIFTED, max_steps=160)
    desk.do(Steering(desk.director, desk.mission).handle(request, replies.append, now))
    assert [(goal.stop_when, goal.max_steps) for goal in desk.sent] == [(LIFTED, 160)]


def test_a_goal_goes_out_with_its_conditions_as_json() -> None:
    goal = goal_of_command(SendGoal(1, SKILL, "pick it up", "", 5.0, "", LIFTED, 160))
    assert parse_stop_when(goal.stop_when) == LIFTED
    assert goal.max_steps == 160
    plain = goal_of_command(SendGoal(1, SKILL, "pick it up", "", 5.0))
    assert (plain.stop_when, plain.max_steps) == ("", 0)


def test_the_log_says_what_stopped_it_and_after_how_many_steps() -> None:
    desk = attempt(0.4)
    desk.end("STOPPED", "stop_when", "the hand rose 0.052 m", stopped_by="lifted", steps=84)
    assert reasons(desk, "stopped") == ["stopped by lifted after 84 steps"]
    assert reasons(desk, "verdict") == ["deadline: stopped by lifted after 84 steps, at progress 0.40"]


def test_a_stopped_goal_is_no_success_unless_the_monitor_says_so() -> None:
    desk = attempt(0.4)
    desk.end("STOPPED", "stop_when", stopped_by="lifted", steps=84)
    assert desk.mission.state.value == "failed"
    assert "stopped by lifted after 84 steps, at progress 0.40" in desk.mission.message
    unseen = attempt()
    unseen.end("STOPPED", "max_steps", stopped_by="max_steps", steps=160)
    assert unseen.mission.state.value == "failed"
    assert "could not be verified: stopped by max_steps after 160 steps" in unseen.mission.message


def test_a_stopped_goal_that_the_monitor_saw_done_is_done() -> None:
    desk = Desk(planner=Stopping())
    desk.say("pick it up")
    desk.run(2 / 3, 0.95)
    assert desk.mission.state.value == "active"
    desk.now += 1 / 3
    desk.director.reading(f"g{desk.sent[-1].key}", ProgressReading(desk.now, 0.95, 0.95), desk.now)
    desk.end("STOPPED", "stop_when", stopped_by="lifted", steps=84)
    assert desk.mission.state.value == "done"
    assert reasons(desk, "stopped") == ["stopped by lifted after 84 steps"]


def test_the_task_knows_how_its_newest_goal_ended() -> None:
    desk = attempt(0.4)
    task = desk.mission.tasks[0]
    assert task.report is None
    hand = (0.1, 0.6, 0.25)
    desk.end("FAILED", "policy_error", steps=84, hand=hand, gripper_m=0.045)
    report = task.report
    assert report is not None
    assert (report.outcome, report.steps, report.hand, report.gripper_m) == ("FAILED", 84, hand, 0.045)
    desk.run(1, 0.4)
    assert len(desk.sent) == 2
    assert task.report is None


@pytest.mark.parametrize(
    ("x", "gripper_m", "hand", "opening"),
    [
        (0.1, 0.045, (0.1, 0.6, 0.2), 0.045),
        (math.nan, -1.0, None, None),
        (math.inf, 0.045, None, 0.045),
        (0.1, math.nan, None, None),
    ],
)
def test_a_result_is_read_with_care(x, gripper_m, hand, opening) -> None:
    result = ExecuteSkill.Result(
        outcome=7, check="stop_when", message="a\nb", stopped_by="x" * 999, steps=84, gripper_m=gripper_m
    )
    result.hand.position.x, result.hand.position.y, result.hand.position.z = x, 0.6, 0.2
    report = report_of(result)
    assert (report.outcome, report.check, report.message, report.steps) == ("STOPPED", "stop_when", "a b", 84)
    assert len(report.stopped_by) <= 64
    assert (report.hand, report.gripper_m) == (hand, opening)


def test_conditions_survive_the_disk(tmp_path: Path) -> None:
    desk = attempt(0.4)
    desk.end("FAILED", "policy_error", steps=84, hand=(0.1, 0.6, 0.25))
    record = MissionWriter(tmp_path)
    record.state(desk.mission)
    found = record.unfinished(desk.log.append)
    record.close()
    assert found is not None
    assert found.tasks[0].planned.stop_when == LIFTED
    assert found.tasks[0].planned.max_steps == 160
    assert found.tasks[0].report == desk.mission.tasks[0].report
