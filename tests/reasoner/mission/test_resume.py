"""A mission that a restart broke off: nothing is repeated unsaid, and what was done stays done."""

from __future__ import annotations

from pathlib import Path

import pytest
from director_desk import Desk

from openral_core.errors import ManifestError
from openral_core.instant import Instant
from openral_core.scene import Resume
from openral_reasoner.mission.mission import Mission
from openral_reasoner.mission.question import YES_OR_NO, Question
from openral_reasoner.mission.record import MissionWriter

ORDER = "open the drawer, then close it"


def broken_off(folder: Path, progress: float = 0.9) -> float:
    """Leave the record of a process that died in the middle of a mission; return the time [s] of its death."""
    desk = Desk()
    desk.say(ORDER)
    desk.run(1, progress)
    record = MissionWriter(folder)
    record.state(desk.mission)
    record.close()
    return desk.now


def restarted(
    folder: Path, policy: Resume, *, now: float, answer: bool | None = None, **fields: object
) -> Desk:
    """A new process that finds the record; `answer` is what the world says about the task in work."""
    desk = Desk(now=now, world=lambda asked: answer, **fields)  # type: ignore[arg-type]
    desk.director.bridge_alive(now, "")
    found = MissionWriter(folder).unfinished(desk.log.append)
    assert found is not None
    desk.do(desk.director.resume(found, policy, Instant(now, now)))
    for _ in range(4):  # leave, look, judgement, next task
        desk.do(desk.director.tick(Instant(desk.now, desk.now)))
    return desk


def test_a_task_that_is_done_meanwhile_is_not_done_again(tmp_path: Path) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = restarted(tmp_path, "always", now=now + 1, answer=True)
    assert [goal.instruction for goal in desk.sent] == ["close the drawer"]
    desk.run(2, 0.9)
    assert desk.mission.state.value == "done"
    assert [task.attempts for task in desk.mission.tasks] == [1, 1]
    assert desk.stops == 1, "what the old process had begun was cancelled first"
    said = [entry.reason for entry in desk.log if entry.kind == "resume"]
    assert said[0] == 'the reasoner was restarted in "open the drawer", attempt 1; 0 of 2 tasks are done'


def test_a_task_that_is_not_done_gets_its_next_attempt(tmp_path: Path) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = restarted(tmp_path, "always", now=now + 1, answer=False)
    assert [goal.instruction for goal in desk.sent] == ["open the drawer"]
    assert desk.mission.tasks[0].attempts == 2
    assert any("the restart broke it off, and it is not done" in entry.reason for entry in desk.log)


def test_a_task_that_nobody_can_judge_is_not_repeated(tmp_path: Path) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = restarted(tmp_path, "always", now=now + 1, answer=None)
    assert (desk.sent, desk.mission.state.value) == ([], "failed")
    assert "could not be verified: the restart broke it off" in desk.mission.message


@pytest.mark.parametrize(
    ("answer", "goals", "state"), [("yes", 1, "active"), ("no", 0, "stopped"), (None, 0, "stopped")]
)
def test_the_operator_decides(tmp_path: Path, answer: str | None, goals: int, state: str) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = restarted(tmp_path, "ask", now=now + 1, answer=True)
    assert (
        desk.director.question == f'The reasoner was restarted in the middle of "{ORDER}". Go on, yes or no?'
    )
    assert desk.sent == []
    if answer is None:
        desk.run(61)
    else:
        desk.say(answer, "answer")
    assert (len(desk.sent), desk.mission.state.value) == (goals, state)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("yes, please!", "yes"),
        ("is it ok to continue?", None),
        ("Continue with what\uff1f", None),
        ("what is it doing? are you sure", None),
        ("no? no!", "no"),
        ("ok, open the window instead", None),
        ("sure, but slower", None),
        ("ok, back off", None),
        ("okay then, please do go ahead", "yes"),
        ("yes, go on with the mission", "yes"),
        ("okay, open the drawers", "yes"),
    ],
)
def test_a_question_in_return_and_another_order_allow_nothing(words: str, answer: str | None) -> None:
    question = Question('Go on with "open the drawer", yes or no?', 0.0, lambda choice, now: None, YES_OR_NO)
    assert (question.take(words), question.answer) == (answer is not None, answer)


def test_a_deployment_that_never_resumes_says_so(tmp_path: Path) -> None:
    desk = restarted(tmp_path, "never", now=broken_off(tmp_path) + 1)
    assert (desk.sent, desk.mission.state.value, desk.stops) == ([], "stopped", 1)
    assert "nothing is resumed" in desk.mission.message


def test_a_world_that_began_anew_has_nothing_to_resume(tmp_path: Path) -> None:
    now = broken_off(tmp_path)
    desk = restarted(tmp_path, "always", now=now - 1)
    assert (desk.sent, desk.mission.state.value) == ([], "stopped")
    assert "the world began anew" in desk.mission.message


def test_motion_of_the_old_process_must_end_before_the_look(tmp_path: Path) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = Desk(now=now + 1, world=lambda asked: True)
    found = MissionWriter(tmp_path).unfinished(desk.log.append)
    assert found is not None
    desk.do(desk.director.resume(found, "always", Instant(desk.now, desk.now)))
    for _ in range(3):
        desk.director.bridge_alive(desk.now, "f" * 32)
        desk.now += 1
        desk.do(desk.director.tick(Instant(desk.now, desk.now)))
    assert (desk.sent, desk.stops) == ([], 4)
    desk.director.bridge_alive(desk.now, "")
    desk.run(1.5)
    assert [goal.instruction for goal in desk.sent] == ["close the drawer"]


def test_motion_of_the_old_process_is_stopped_while_the_operator_is_asked(tmp_path: Path) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = Desk(now=now + 1)
    found = MissionWriter(tmp_path).unfinished(desk.log.append)
    assert found is not None
    desk.do(desk.director.resume(found, "ask", Instant(desk.now, desk.now)))
    desk.director.bridge_alive(desk.now, "f" * 32)
    desk.do(desk.director.tick(Instant(desk.now, desk.now)))
    assert (desk.stops, desk.director.question) == (2, ""), "first the arm holds, then there is a question"
    desk.run(0.4)
    assert "Go on, yes or no?" in desk.director.question


def test_a_goal_that_does_not_end_fails_the_mission(tmp_path: Path) -> None:
    now = broken_off(tmp_path, 0.5)
    desk = Desk(now=now + 1)
    found = MissionWriter(tmp_path).unfinished(desk.log.append)
    assert found is not None
    desk.do(desk.director.resume(found, "always", Instant(desk.now, desk.now)))
    for _ in range(40):
        desk.director.bridge_alive(desk.now, "f" * 32)
        desk.do(desk.director.tick(Instant(desk.now, desk.now)))
        desk.now += 1
    assert (desk.sent, desk.mission.state.value) == ([], "failed")
    assert "does not end" in desk.mission.message


def test_stop_and_a_new_order_end_it(tmp_path: Path) -> None:
    now = broken_off(tmp_path)
    desk = restarted(tmp_path, "ask", now=now + 1)
    desk.say("stop", "s")
    assert (desk.mission.state.value, desk.director.recovering) == ("stopped", False)
    desk = restarted(tmp_path, "ask", now=now + 1)
    desk.say("close the drawer", "n")
    assert [goal.instruction for goal in desk.sent] == ["close the drawer"]


def test_an_ended_mission_is_not_taken_up_and_a_spoiled_file_is_named(tmp_path: Path) -> None:
    record = MissionWriter(tmp_path)
    assert record.unfinished(print) is None
    desk = Desk()
    desk.say("open the drawer")
    desk.run(2, 0.9)
    record.state(desk.mission)
    assert record.unfinished(print) is None
    begun = '{"state": "active", "id": "3", "text": "", "active_task": Infinity, "resume": {"tasks": []}}'
    for spoiled in ('{"state": "active", "id": 3', begun, '{"a": ' * 100_000):
        (tmp_path / "mission.json").write_text(spoiled)
        with pytest.raises(ManifestError, match=r"mission\.json: .*move it away"):
            record.unfinished(print)
    record.close()


@pytest.mark.parametrize(
    "order", [ORDER, "if the drawer is open, close it", "open the drawer until it is open"]
)
def test_all_of_a_mission_survives_the_disk(tmp_path: Path, order: str) -> None:
    desk = Desk(world=lambda asked: True)
    desk.say(order)
    assert desk.mission.tasks, desk.mission.message
    desk.run(2, 0.2)  # in its attempt
    record = MissionWriter(tmp_path)
    record.state(desk.mission)
    found = record.unfinished(desk.log.append)
    assert isinstance(found, Mission)
    assert found == desk.mission
    record.close()
