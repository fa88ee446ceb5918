"""The ladder of a mission, driven by hand: events in, commands out, on a clock that the test moves."""

from __future__ import annotations

import pytest
from director_desk import CONFIG, HOME, NAME, SKILL, Desk

from openral_core.instant import Instant
from openral_reasoner.mission.attempt import StopSkills
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.mission.stopping.stop_words import is_stop
from openral_reasoner.palette import Palette


def test_two_tasks_in_order() -> None:
    desk = Desk()
    desk.say("open the drawer, then close it")
    assert [goal.instruction for goal in desk.sent] == ["open the drawer"]
    assert desk.sent[0].deadline_s == 10.0
    desk.run(2, 0.1, 0.5, 0.9)
    assert [goal.instruction for goal in desk.sent] == ["open the drawer", "close the drawer"]
    desk.run(2, 0.1, 0.5, 0.9)
    assert desk.mission.state.value == "done"
    assert [task.attempts for task in desk.mission.tasks] == [1, 1]
    assert desk.cancelled == [goal.key for goal in desk.sent]
    assert {"prompt", "plan", "attempt", "reading", "verdict", "done", "mission"} <= {
        entry.kind for entry in desk.log
    }


def test_stalled_then_success() -> None:
    desk = Desk(palette=Palette((SKILL, HOME)))
    desk.say("open the drawer")
    desk.run(3.4, 0.2)
    assert len(desk.sent) == 2
    desk.run(1.5, 0.9)
    assert desk.mission.state.value == "done"
    assert desk.mission.tasks[0].attempts == 2


def test_a_task_that_no_way_is_left_for_is_abandoned_and_the_next_one_is_not_tried() -> None:
    desk = Desk(palette=Palette((SKILL, HOME)))
    desk.say("open the drawer, then close it")
    desk.run(15, 0.2)
    assert desk.mission.state.value == "failed"
    assert [task.state.value for task in desk.mission.tasks] == ["abandoned", "pending"]
    assert len(desk.sent) == 2
    assert "abandoned after 2 attempts: progress stands at 0.20" in desk.mission.message


def test_without_a_monitor_nothing_is_called_a_success() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.run(9.5)
    assert desk.mission.state.value == "active"
    desk.run(1)
    assert desk.mission.state.value == "failed"
    assert "could not be verified" in desk.mission.message
    assert len(desk.sent) == 1


def test_the_skills_own_success_needs_the_monitor() -> None:
    desk = Desk(palette=Palette((SKILL, HOME)))
    desk.say("open the drawer")
    desk.run(1, 0.4)
    desk.end("SUCCEEDED", "done")
    assert desk.mission.state.value == "active"
    assert "calls itself done" in desk.mission.message


def test_deadline_of_the_policy_node_is_judged_by_the_readings() -> None:
    desk = Desk(palette=Palette((SKILL, HOME)))
    desk.say("open the drawer")
    desk.run(0.7, 0.9)
    desk.end("DEADLINE", "deadline")
    assert desk.mission.state.value == "active"  # below the dwell: not a success
    desk.run(1.2, 0.9)
    assert desk.mission.state.value == "done"


def test_policy_error_is_retried_and_named() -> None:
    desk = Desk()
    desk.say("open the drawer")
    for _ in range(3):
        desk.end("FAILED", "policy_error", "the model returned NaN")
        desk.run(0.4)
    assert desk.mission.state.value == "failed"
    assert "policy_error: the model returned NaN" in desk.mission.message


def test_lost_skill_comes_back() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.director.palette(Palette(), desk.now)
    desk.director.skill_lost(
        NAME, "the policy node /openral/policy/mini went away", Instant(desk.now, desk.now)
    )
    desk.run(2)
    assert len(desk.sent) == 1
    desk.director.palette(Palette((SKILL,)), desk.now)
    desk.run(2, 0.9)
    assert desk.mission.state.value == "done"
    assert desk.mission.tasks[0].attempts == 2


def test_lost_skill_stays_away() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.director.palette(Palette(), desk.now)
    desk.director.skill_lost(
        NAME, "the policy node /openral/policy/mini went away", Instant(desk.now, desk.now)
    )
    desk.run(5)
    assert desk.mission.state.value == "failed"
    assert "/openral/policy/mini did not come back within 4 s" in desk.mission.message


def test_stop_replace_and_repeat() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    desk.say("close the drawer", "b")
    first = [entry for entry in desk.log if entry.mission == "a"][-1]
    assert (first.outcome, first.reason) == ("stopped", 'replaced by "close the drawer"')
    desk.run(0.4)
    assert [goal.instruction for goal in desk.sent] == ["open the drawer", "close the drawer"]
    desk.say("open the drawer", "a")  # the same id once more
    assert desk.mission.id == "b"
    desk.say("Stop!", "c")
    assert desk.mission.state.value == "stopped"
    assert desk.mission.id == "b"
    desk.run(1)
    assert len(desk.sent) == 2


def test_stop_leaves_a_mission_that_has_ended_as_it_is_and_still_stops_the_arm() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    desk.run(2, 0.9)
    before = (desk.mission.id, desk.mission.state.value, desk.mission.message)
    assert before[1] == "done"
    commands = desk.director.prompt("b", "stop", Instant(desk.now, desk.now))
    assert (desk.mission.id, desk.mission.state.value, desk.mission.message) == before
    assert StopSkills() in commands
    assert desk.log[-1].reason == '"stop": no mission is running'


def test_next_goal_waits_for_the_end_of_the_last() -> None:
    desk = Desk(polite=False)
    desk.say("open the drawer", "a")
    desk.say("close the drawer", "b")
    desk.run(1)
    assert len(desk.sent) == 1
    desk.run(2)  # longer than the patience with an unanswered cancellation
    assert len(desk.sent) == 2


def test_estop_ends_the_mission_and_refuses_the_next() -> None:
    desk = Desk()
    desk.say("open the drawer", "a")
    desk.do(desk.director.estop(True, Instant(desk.now, desk.now)))
    assert desk.mission.state.value == "stopped"
    desk.say("open the drawer", "b")
    assert "estop_reset" in desk.mission.message
    desk.do(desk.director.estop(False, Instant(desk.now, desk.now)))
    desk.say("open the drawer", "c")
    assert desk.mission.state.value == "active"


def test_an_arm_that_takes_no_commands_ends_the_mission_whose_goal_runs() -> None:
    """Else the goals of its next attempts would move the arm as soon as its user stop is released."""
    desk = Desk(palette=Palette())
    desk.say("open the drawer")

    def told(why: str) -> None:
        desk.do(desk.director.arm_refuses(why, Instant(desk.now, desk.now)))

    told("user stopped")
    assert desk.mission.state is MissionState.ACTIVE, "nothing of it moves yet"
    desk.director.palette(Palette((SKILL,)), desk.now)
    desk.run(1, 0.2)
    told("")
    desk.director.intervention("Ada", Instant(desk.now, desk.now))
    told("guiding")
    assert desk.mission.state is MissionState.ACTIVE, "who has taken the arm over may guide it by hand"
    desk.director.intervention("", Instant(desk.now, desk.now))
    told("reflex: joint_reflex")
    assert desk.mission.state is MissionState.STOPPED
    assert "the arm takes no commands (reflex: joint_reflex)" in desk.mission.message
    assert desk.cancelled == [1]


def test_unknown_task_moves_nothing() -> None:
    desk = Desk()
    desk.say("fry an egg")
    assert desk.mission.state.value == "failed"
    assert "What I can do: open the drawer; close the drawer." in desk.mission.message
    assert desk.sent == []


def test_mission_waits_for_the_palette() -> None:
    desk = Desk()
    desk.director.palette(Palette((), {NAME: "its node is not active"}), desk.now)
    desk.say("open the drawer")
    desk.run(2)
    assert desk.mission.state.value == "active"
    desk.run(4)
    assert desk.mission.state.value == "failed"
    assert "its node is not active" in desk.mission.message


def test_silent_bridge_fails_the_attempt() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.now += CONFIG.bridge_patience_s + 1
    desk.do(desk.director.tick(Instant(2.0, desk.now)))  # the node's clock stands still with the bridge
    assert "control_status" in desk.mission.message


@pytest.mark.parametrize(
    ("text", "stop"), [("stop", True), ("please STOP now!", True), ("stop the drawer", False), ("", False)]
)
def test_stop_words(text: str, stop: bool) -> None:
    assert is_stop(text) is stop


def test_record_survives_and_matches(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import json

    from openral_reasoner.mission.record import MissionWriter

    desk = Desk()
    desk.say("open the drawer")
    desk.run(2, 0.9)
    record = MissionWriter(tmp_path / "run")
    for entry in desk.log:
        record.step(entry, 1.0)
    record.state(desk.mission)
    record.close()
    lines = [json.loads(line) for line in (tmp_path / "run/mission.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == [entry.kind for entry in desk.log]
    final = json.loads((tmp_path / "run/mission.json").read_text())
    assert final["state"] == "done"
    assert final["tasks"][0]["skill_task"] == "drawer-open-v3"
