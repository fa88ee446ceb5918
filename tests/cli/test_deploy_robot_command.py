"""`openral deploy robot` over a stand-in for the launch that leaves a mission behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openral_cli.deploy.commands import deploy as app
from openral_core.process import launched_deployment
from openral_core.process.announcements import arm_line

STAND_IN = """#!{python}
import pathlib, sys
values = dict(word.split(":=", 1) for word in sys.argv[3:])
folder = pathlib.Path(values["run_dir"])
if not {mission!r}:
    sys.exit(4)
(folder / "mission.json").write_text({mission!r})
(folder / "mission.jsonl").write_text("")
print("[bridge] [INFO] [1.0] [openral.bridge]:", {arm!r}, flush=True)
print("[bridge] [INFO] [1.0] [openral.bridge]: not for everybody", flush=True)
(folder / "arguments.txt").write_text("\\n".join([pathlib.Path(sys.argv[2]).name, *sys.argv[3:]]))
"""
TASK = {
    "id": "m/0",
    "text": "lift the cube",
    "skill": "o/rskill-x",
    "skill_task": "Lift",
    "attempts": 2,
    "progress": 0.9,
    "started_s": 0.1,
    "ended_s": 0.5,
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, Path]]:
    """A function that runs the command for a mission that ends in a state; an empty one: no mission is left."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(state: str, *words: str, scene: str = "fr3_tabletop") -> tuple[int, str, Path]:
        task = {**TASK, "state": state, "outcome": "" if state == "done" else "nothing moved"}
        mission = {
            "id": "m",
            "text": "lift the cube",
            "state": state,
            "active_task": -1,
            "message": "so it ended",
        }
        tasks = [] if state == "idle" else [task]
        path, folder = tmp_path / "ros2", tmp_path / "run"
        left = json.dumps({**mission, "tasks": tasks}) if state else ""
        arm = arm_line("franka", "10.0.0.7", 20.0, "its commands are sent")
        path.write_text(STAND_IN.format(python=sys.executable, mission=left, arm=arm))
        path.chmod(0o755)
        monkeypatch.setattr(launched_deployment, "ros2_command", lambda: str(path))
        arguments = ["robot", "--config", scene, "--keep-alive", "--run-dir", str(folder), *words]
        result = CliRunner().invoke(app, arguments)
        return result.exit_code, result.output or str(result.exception), folder

    return run


def test_the_robots_launch_is_run_with_what_was_asked_for(run: Callable[..., tuple[int, str, Path]]) -> None:
    code, output, folder = run(
        "done", "--shadow", "--address", "172.16.0.2", "--namespace", "/arm2", "--mission", "lift the cube"
    )
    assert code == 0, output
    assert "so it ended" in output
    assert "no simulator judged it" in output
    file, *arguments = (folder / "arguments.txt").read_text().splitlines()
    assert file == "deploy_robot.launch.py"
    for word in ("address:=172.16.0.2", "shadow:=true", "namespace:=/arm2", "exit_when_done:=false"):
        assert word in arguments


def test_a_mission_that_failed_fails_the_command(run: Callable[..., tuple[int, str, Path]]) -> None:
    code, output, _ = run("failed")
    assert code == 1
    assert "nothing moved" in output


def test_a_scene_without_an_arm_is_refused(run: Callable[..., tuple[int, str, Path]]) -> None:
    code, output, folder = run("done", scene="metaworld_drawer")
    assert code == 1
    assert "arm is missing" in output
    assert not folder.exists()


def test_it_says_how_the_arm_moves_before_it_can(run: Callable[..., tuple[int, str, Path]]) -> None:
    _, output, _ = run("done", "--address", "172.16.0.2", "--namespace", "/arm2")
    topic = "/arm2/hold_to_run"
    assert (
        f"the arm at 172.16.0.2 moves only while somebody publishes {topic}, at least every 0.3 s" in output
    )
    assert f"ros2 topic pub --rate 20 {topic} std_msgs/msg/Empty; Ctrl-C ends the deployment" in output
    assert "franka arm at 10.0.0.7, 20 Hz, its commands are sent" in output
    assert "not for everybody" not in output


def test_a_mission_that_never_was_has_no_table(run: Callable[..., tuple[int, str, Path]]) -> None:
    code, output, _ = run("idle")
    assert code == 1
    assert "no mission was run" in output
    assert "openral's own opinion" not in output


def test_a_deployment_that_came_to_no_reasoner_says_that_the_launch_ended(
    run: Callable[..., tuple[int, str, Path]],
) -> None:
    code, output, _ = run("")
    assert code == 1
    assert "no mission was run: the launch ended with code 4 before one began" in output
    assert "mission.json" not in output


def test_an_empty_address_is_not_that_of_the_scene(run: Callable[..., tuple[int, str, Path]]) -> None:
    code, output, folder = run("done", "--address", "")
    assert code == 1
    assert "--address is empty" in output
    assert not folder.exists()
