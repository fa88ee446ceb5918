"""While an operator has the arm, the clocks of attempt and mission stand still, and readings count for nothing."""

from __future__ import annotations

from director_desk import CONFIG, Desk

from openral_core.instant import Instant


def intervene(desk: Desk, operator: str) -> None:
    desk.director.intervention(operator, Instant(desk.now, desk.now))


def test_an_attempt_outlasts_its_deadline_by_the_time_that_it_waited() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.run(2, 0.1)
    intervene(desk, "anna")
    desk.run(30, 0.1)  # three deadlines, and a progress that stands still
    assert desk.mission.state.value == "active"
    assert desk.cancelled == []
    assert not desk.director.running
    assert "anna has taken the arm over" in desk.mission.message
    intervene(desk, "")
    assert "given back after 30.0 s" in desk.mission.message
    desk.run(2, 0.3, 0.5, 0.9)
    assert desk.mission.state.value == "done"
    assert len(desk.sent) == 1


def test_a_standstill_from_before_is_none_afterwards() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.run(2.7, 0.2)
    intervene(desk, "anna")
    desk.run(1, 0.2)
    intervene(desk, "")
    desk.run(1.0, 0.2)  # more than the window altogether, and less of it since then
    assert len(desk.sent) == 1
    desk.run(3.0, 0.2)
    assert desk.cancelled == [desk.sent[0].key]


def test_a_success_that_the_operator_brought_about_is_judged_after_the_arm_is_given_back() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.run(1, 0.2)
    intervene(desk, "anna")
    desk.run(5, 0.95)
    assert desk.mission.state.value == "active"
    intervene(desk, "")
    desk.run(1.4, 0.95)
    assert desk.mission.state.value == "done"


def test_a_mission_that_is_stopped_meanwhile_is_stopped() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.run(1, 0.2)
    intervene(desk, "anna")
    desk.say("stop", "q")
    assert desk.mission.state.value == "stopped"
    assert desk.cancelled == [desk.sent[0].key]


def test_the_time_of_a_mission_does_not_run_either() -> None:
    desk = Desk(config=CONFIG.model_copy(update={"mission_time_s": 60.0}))
    desk.say("open the drawer")
    begun = desk.mission.begun_s
    assert begun is not None
    intervene(desk, "anna")
    desk.run(20, 0.2)
    intervene(desk, "")
    assert desk.mission.begun_s is not None
    assert round(desk.mission.begun_s - begun, 3) == 20.0
