"""What becomes of an attempt that the reward monitor cannot tell anything about."""

from __future__ import annotations

from director_desk import Desk

from openral_core.instant import Instant
from openral_core.progress_judgement import ProgressReading

REMARK = "the picture of camera corner2 is too dark"


def watch(desk: Desk, seconds: float, score: float, *, abstained: bool) -> None:
    """Let time pass at 3 Hz with calibrated readings."""
    for _ in range(round(3 * seconds)):
        desk.now += 1 / 3
        desk.director.bridge_alive(desk.now)
        reading = ProgressReading(
            desk.now, score, score, calibrated=True, abstained=abstained, remark=REMARK if abstained else ""
        )
        desk.director.reading(f"g{desk.sent[-1].key}", reading, desk.now)
        desk.do(desk.director.tick(Instant(desk.now, desk.now)))


def test_doubt_is_neither_a_success_nor_a_standstill_and_is_told_once() -> None:
    desk = Desk()
    desk.say("open the drawer")
    watch(desk, 9, 0.95, abstained=True)
    assert desk.mission.state.value == "active"
    assert len(desk.sent) == 1, "the attempt goes on"
    told = [entry.reason for entry in desk.log if entry.kind == "abstained"]
    assert told == [f"the reward monitor abstains: {REMARK}"]


def test_an_attempt_that_ends_in_doubt_could_not_be_verified_and_is_not_repeated() -> None:
    desk = Desk()
    desk.say("open the drawer")
    watch(desk, 11, 0.95, abstained=True)
    assert len(desk.sent) == 1, "to repeat a motion that may have succeeded is no way to find out"
    assert "done" not in desk.kinds()
    assert desk.mission.state.value != "done"
    assert any("could not be verified" in entry.reason and REMARK in entry.reason for entry in desk.log)


def test_a_monitor_that_sees_again_decides_again() -> None:
    desk = Desk()
    desk.say("open the drawer")
    watch(desk, 3, 0.95, abstained=True)
    watch(desk, 1.4, 0.95, abstained=False)
    assert desk.mission.state.value == "done"


def test_an_attempt_that_got_nearer_until_it_was_in_doubt_is_given_more_time_once() -> None:
    desk = Desk()
    desk.say("open the drawer")
    for step in range(18):
        watch(desk, 0.5, 0.3 + step / 40, abstained=False)
    watch(desk, 2, 0.76, abstained=True)
    assert [kind for kind in desk.kinds() if kind in ("go on", "abandoned")] == ["go on"]
    assert len(desk.sent) == 2
    watch(desk, 11, 0.76, abstained=True)
    assert len(desk.sent) == 2
    assert any("could not be verified" in entry.reason and REMARK in entry.reason for entry in desk.log)
