"""Silence, measured by hand on a clock that the test moves."""

from __future__ import annotations

import pytest
from director_desk import CONFIG, HOME, SKILL, Desk

from openral_reasoner.mission.monitor_liveness import MonitorWatch
from openral_reasoner.palette import Palette
from openral_reasoner.silence_watch import ASLEEP_S, Heartbeats


def watched(beats: Heartbeats, begin_s: float, end_s: float) -> set[str]:
    """Look ten times a second, as the node does, and return who was silent at the end."""
    now, silent = begin_s, set[str]()
    while now < end_s:
        now += 0.1
        silent = beats.silent(now)
    return silent


def test_silence_beyond_the_patience_counts() -> None:
    beats = Heartbeats(5.0)
    beats.beat("a", 0.0)
    beats.beat("b", 3.0)
    assert watched(beats, 0.0, 4.9) == set()
    assert watched(beats, 4.9, 5.3) == {"a"}
    beats.forget("a")
    assert watched(beats, 5.3, 7.9) == set()
    assert watched(beats, 7.9, 8.3) == {"b"}


def test_the_time_in_which_nobody_looked_does_not_count() -> None:
    beats = Heartbeats(5.0)
    beats.beat("a", 0.0)
    assert watched(beats, 0.0, 1.0) == set()
    assert beats.silent(100.0) == set()
    assert watched(beats, 100.0, 103.5) == set()
    assert watched(beats, 103.5, 104.5) == {"a"}


def test_a_short_gap_counts() -> None:
    beats = Heartbeats(1.0)
    beats.beat("a", 0.0)
    beats.silent(0.5)
    assert beats.silent(0.5 + ASLEEP_S) == {"a"}


def test_a_silent_monitor_is_told_once_and_its_return_too() -> None:
    watch = MonitorWatch(3.0)
    assert watch.news(1, True, 0.0) == ""
    watch.reading(1.0)
    assert watch.news(1, True, 3.9) == ""
    assert watch.news(1, True, 4.1) == (
        "the reward monitor gave no reading for 3 s; nothing can be verified until it is back"
    )
    assert watch.news(1, True, 5.0) == ""
    watch.reading(6.0)
    assert watch.news(1, True, 6.1) == "the reward monitor is back"


def test_a_monitor_that_left_is_told_and_one_that_never_came_is_not() -> None:
    watch = MonitorWatch(3.0)
    assert watch.news(0, True, 0.0) == ""
    assert watch.news(0, True, 10.0) == ""
    assert watch.news(1, False, 11.0) == ""
    assert "went away" in watch.news(0, False, 12.0)
    assert watch.news(0, False, 13.0) == ""


def test_nobody_expects_readings_without_a_goal() -> None:
    watch = MonitorWatch(3.0)
    watch.reading(0.0)
    assert [watch.news(1, False, float(t)) for t in range(20)] == [""] * 20
    assert watch.news(1, True, 20.0) == ""
    assert watch.news(1, True, 21.5) == ""
    assert "gave no reading" in watch.news(1, True, 23.5)


@pytest.mark.parametrize(
    ("holds", "state", "goals"), [(True, "done", 1), (False, "active", 2), (None, "failed", 1)]
)
def test_what_the_monitor_missed_is_judged_when_it_is_back(
    holds: bool | None, state: str, goals: int
) -> None:
    desk = Desk(palette=Palette((SKILL, HOME)), world=lambda asked: holds)
    desk.say("open the drawer")
    desk.director.monitor(silent=True, there=False)
    desk.run(11)
    assert (desk.mission.state.value, len(desk.sent)) == ("active", 1), (
        "its deadline is over, and nobody saw it"
    )
    desk.director.monitor(silent=False, there=True)
    desk.run(0.7)
    assert (desk.mission.state.value, len(desk.sent)) == (state, goals), desk.mission.message


def test_a_monitor_that_stays_away_leaves_the_task_unverified() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.director.monitor(silent=True, there=False)
    desk.run(11)
    assert desk.mission.state.value == "active"
    desk.run(CONFIG.comeback_patience_s + 1)
    assert desk.mission.state.value == "failed"
    assert "could not be verified" in desk.mission.message


def test_a_stop_ends_the_wait_for_the_monitor() -> None:
    desk = Desk()
    desk.say("open the drawer")
    desk.director.monitor(silent=True, there=False)
    desk.run(11)
    desk.say("stop", "s")
    assert desk.mission.state.value == "stopped"
    desk.director.monitor(silent=False, there=True)
    desk.run(2)
    assert desk.mission.state.value == "stopped"
