"""Missions from a sentence to the simulator's own verdict: real processes, policy, reward monitor and world."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from system_operator import ENDED, Operator
from system_stack import Stack


def test_one_sentence_opens_a_drawer_and_closes_it(tmp_path):
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack:
        assert stack.wait() == 0, stack.output
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["passed"]
    assert summary["state"] == "done"
    tasks = {task["skill_task"]: task for task in summary["tasks"]}
    assert list(tasks) == ["drawer-open-v3", "drawer-close-v3"]
    assert all(task["simulator_success"] and task["state"] == "done" for task in tasks.values())
    assert all(task["steps"] > 0 and task["progress"] > 0.5 for task in tasks.values())
    assert "the simulator agrees on every task" in stack.output
    assert stack.errors == []
    assert stack.said("was required") == 1, "the launch ends for one reason"


@pytest.mark.parametrize(
    ("scene", "tasks"),
    [
        pytest.param("metaworld_window", ["window-open-v3", "window-close-v3"], marks=pytest.mark.long),
        pytest.param("metaworld_button", ["button-press-topdown-v3"], marks=pytest.mark.long),
    ],
)
def test_other_scenes_do_their_own_mission(tmp_path, scene, tasks):
    words = ("--config", scene, "--run-dir", "run", "--no-video", "--lockstep")
    with Stack(tmp_path, "openral", "deploy", "sim", *words) as stack:
        assert stack.wait() == 0, stack.output
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert [task["skill_task"] for task in summary["tasks"]] == tasks
    assert summary["passed"]


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, Operator]]:
    """`ros2 launch` by its package's name, without a mission of its own, until Ctrl-C."""
    folder = tmp_path_factory.mktemp("launch")
    words = ("exit_when_done:=false", f"run_dir:={folder / 'run'}")
    with (
        Stack(
            folder, "ros2", "launch", "openral", "deploy_sim.launch.py", "scene:=metaworld_drawer", *words
        ) as stack,
        Operator(stack) as operator,
    ):
        operator.until_active("mini_metaworld")
        yield stack, operator
        stack.interrupt()
        assert stack.wait() == 0, stack.output


def end_of_mission(operator: Operator, text: str) -> object:
    """Wait for the end of the mission with this text, and return it."""

    def found() -> list[object]:
        return [mission for mission in operator.missions if mission.text == text and mission.state in ENDED]

    operator.until(found, f"the end of {text!r}")
    return found()[-1]


def test_launched_without_a_command_line_of_ours_the_scene_s_mission_is_done(deployment):
    _, operator = deployment
    mission = end_of_mission(operator, "open the drawer, then close it")
    assert (mission.state, [task.state for task in mission.tasks]) == ("done", ["done", "done"])


def test_a_prompt_in_words_that_no_training_saw_is_done_on_the_running_deployment(deployment):
    stack, operator = deployment
    end_of_mission(operator, "open the drawer, then close it")
    said = stack.beside("openral", "prompt", "pull the drawer open and then push it shut", "--patience", "30")
    assert said.returncode == 0, said.stdout
    mission = end_of_mission(operator, "pull the drawer open and then push it shut")
    assert [task.skill_task for task in mission.tasks] == ["drawer-open-v3", "drawer-close-v3"]
    assert [task.state for task in mission.tasks] == ["done", "done"]


def test_a_condition_is_looked_up_in_the_world_before_anything_moves(deployment):
    _, operator = deployment
    end_of_mission(operator, "open the drawer, then close it")
    for text, tasks in (
        ("if the drawer is open, close it", []),
        ("open the drawer", ["drawer-open-v3"]),
        ("if the drawer is open then close it", ["drawer-close-v3"]),
    ):
        operator.say(text)
        mission = end_of_mission(operator, text)
        assert mission.state == "done", mission.message
        assert [task.skill_task for task in mission.tasks if task.state == "done"] == tasks, mission.message


def test_an_unknown_task_is_refused_in_one_clear_sentence_and_nothing_moves(deployment):
    stack, operator = deployment
    end_of_mission(operator, "open the drawer, then close it")
    operator.assert_holding(still=False)
    executed = operator.status[-1].executed
    said = stack.beside("openral", "prompt", "make me a coffee", "--patience", "30")
    assert said.returncode == 1
    mission = end_of_mission(operator, "make me a coffee")
    assert (mission.state, len(mission.tasks)) == ("failed", 0)
    assert "nothing that is deployed here does it" in mission.message
    assert "drawer" in mission.message, "it says what can be asked for instead"
    assert said.stdout.count(mission.message) == 1
    operator.assert_holding(still=False)
    assert operator.status[-1].executed == executed
