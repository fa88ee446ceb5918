"""`openral deploy sim` over a stand-in for the launch that leaves a prepared record behind."""

from __future__ import annotations

import json
import signal
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from openral_cli.deploy import commands, mission_video
from openral_cli.deploy.commands import deploy as app
from openral_core.errors import UsageError
from openral_core.process import launched_deployment as deploy
from openral_sim_bridge.backends.fake import FakeBackend
from openral_sim_bridge.truth_recorder import TruthRecorder

STAND_IN = """#!{python}
import pathlib, shutil, sys
values = dict(word.split(":=", 1) for word in sys.argv[3:])
print({says!r}, flush=True)
for file in pathlib.Path({record!r}).iterdir():
    shutil.copy(file, values["run_dir"])
pathlib.Path(values["run_dir"], "arguments.txt").write_text("\\n".join(sys.argv[3:]))
sys.exit({code})
"""


REMOVES = """#!{python}
import shutil, sys, time
values = dict(word.split(":=", 1) for word in sys.argv[3:])
shutil.rmtree(values["run_dir"])
time.sleep(1.0)
"""


@pytest.fixture
def record(tmp_path):
    """One task, done at 0.5 s according to the reasoner, and true from 0.4 s on according to the simulator."""
    folder = tmp_path / "record"
    recorder = TruthRecorder(folder, ["drawer-open-v3"], 80.0)
    backend = FakeBackend(["drawer-open-v3"])
    for i in range(1, 49):
        recorder.step(i / 80, i / 80, backend.snapshot(), np.zeros(4), False, np.array([i >= 32]), "g")
    recorder.close()
    task = {
        "id": "m/0",
        "text": "open it",
        "skill": "o/rskill-x",
        "skill_task": "drawer-open-v3",
        "attempts": 1,
        "state": "done",
        "progress": 0.9,
        "outcome": "",
        "started_s": 0.1,
        "ended_s": 0.5,
    }
    mission = {"id": "m", "text": "open it", "state": "done", "active_task": -1, "message": "mission done"}
    (folder / "mission.json").write_text(json.dumps({**mission, "tasks": [task]}))
    step = {"stamp_s": 0.5, "kind": "done", "reason": "progress stayed high", "task": 0, "outcome": "done"}
    (folder / "mission.jsonl").write_text(json.dumps(step) + "\n")
    return folder


@pytest.fixture
def run(tmp_path, monkeypatch, record, fake_scene):
    """Return a function that runs the command and returns exit code, output and run folder."""
    monkeypatch.setenv("COLUMNS", "160")
    scene = tmp_path / "fake.yaml"
    scene.write_text(fake_scene.read_text() + "skills: [mini-metaworld]\n")

    def run(*arguments, code=0, says="[INFO] fine"):
        path = tmp_path / "ros2"
        path.write_text(STAND_IN.format(python=sys.executable, record=str(record), code=code, says=says))
        path.chmod(0o755)
        monkeypatch.setattr(deploy, "ros2_command", lambda: str(path))
        run_dir = tmp_path / "run"
        words = ["sim", "--config", str(scene), "--no-video", "--run-dir", str(run_dir), *arguments]
        result = CliRunner().invoke(app, words)
        return result.exit_code, result.output, run_dir

    return run


def test_a_run_that_passed(run):
    code, output, folder = run("--lockstep", "--mission", "open it; close it", "--init-id", "7")
    assert code == 0
    assert "progress stayed high" in output
    assert "the simulator agrees" in output
    assert json.loads((folder / "summary.json").read_text())["passed"] is True
    arguments = (folder / "arguments.txt").read_text().splitlines()
    for word in ("mission:=open it; close it", "mode:=lockstep", "init_id:=7", "exit_when_done:=true"):
        assert word in arguments


def test_a_run_that_the_simulator_denies(run, record):
    mission = json.loads((record / "mission.json").read_text())
    mission["tasks"][0]["ended_s"] = 0.3
    (record / "mission.json").write_text(json.dumps(mission))
    code, output, _ = run()
    assert code == 1
    verdict = output.index("the simulator disagrees: 'open it' was called done, and is not")
    assert verdict < output.index("tries"), "before the table"
    assert "mission called done, and is not" in output


def test_a_node_that_failed_fails_the_run_and_is_heard(run):
    code, output, folder = run(code=5, says="[FATAL] [x]: the simulation ended: out of sand")
    assert code == 1
    assert "out of sand" in output
    assert "ended with code 5" in output
    assert "out of sand" in (folder / "launch.log").read_text()


def test_an_unknown_disturbance_is_refused_before_anything_starts(tmp_path):
    words = [
        "sim",
        "--config",
        "metaworld_drawer",
        "--disturbance",
        "quake",
        "--run-dir",
        str(tmp_path / "run"),
    ]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, UsageError)
    assert "there is no disturbance 'quake'; there are open_in_lift" in str(result.exception)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", ["sim", "robot"])
def test_a_folder_for_a_recording_that_is_not_made_is_refused(tmp_path, kind):
    scene = "metaworld_drawer" if kind == "sim" else "fr3_tabletop"
    words = [
        kind,
        "--config",
        scene,
        "--record-dir",
        str(tmp_path / "mine"),
        "--run-dir",
        str(tmp_path / "run"),
    ]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, UsageError)
    assert "--record-dir is for a recording; write --record always" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_stamps_of_a_wall_clock_count_from_the_beginning(run, record):
    steps = [
        {"stamp_s": 1.8e9 + s, "kind": k, "reason": k, "outcome": ""}
        for s, k in ((0, "prompt"), (2.5, "done"))
    ]
    (record / "mission.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    _, output, _ = run()
    assert "0.0 s  prompt" in output
    assert "2.5 s  done" in output


def test_no_mission_at_all(run, record):
    for file in record.iterdir():
        file.unlink()
    code, output, _ = run(code=3)
    assert code == 1
    assert "no mission was run: the launch ended with code 3 before one began" in output
    assert "launch.log" in output
    code, output, _ = run()
    assert code == 1, "the log of the first would be printed as that of the second"


def test_a_mission_that_nobody_ordered_has_no_table(run, record):
    mission = json.loads((record / "mission.json").read_text())
    (record / "mission.json").write_text(json.dumps({**mission, "state": "idle", "tasks": []}))
    code, output, folder = run(code=3)
    assert code == 1
    assert "no mission was run: the launch ended with code 3 before one began" in output
    assert not (folder / "summary.json").exists()


def test_a_mission_whose_simulation_left_no_record_is_told_as_such(run, record):
    (record / "truth.npz").unlink()
    code, output, _ = run()
    assert code == 1
    assert "no mission was run" not in output
    assert "the simulator judged nothing: " in output
    assert "the bridge left no record of its control steps" in output


def test_an_interrupt_before_a_mission_tells_of_the_recording(run, monkeypatch):
    """Such as of what an operator drove by hand."""
    monkeypatch.setattr(commands, "follow", lambda *_: (signal.SIGINT, 0))
    code, output, _ = run("--record", "always")
    assert "the deployment was interrupted before one began" in output
    assert "nothing was recorded" in output
    assert code == 1


@pytest.mark.parametrize(
    "says",
    [
        "[ERROR] [launch]: caught exception in launch (ros2 launch --debug shows where): {why}",
        "[ERROR] [launch]: Caught exception in launch (see debug for traceback): {why}",
    ],
)
def test_a_launch_that_refuses_says_why_there_was_no_mission(run, record, says):
    for file in record.iterdir():
        file.unlink()
    why = "namespace:=/openral: another bridge runs on this ROS_DOMAIN_ID in the same namespace [stop it]"
    code, output, _ = run(code=1, says=says.format(why=why))
    assert code == 1
    assert f"no mission was run: the launch refused it: {why}" in output
    assert "truth.npz" not in output


def test_a_node_that_ends_the_deployment_says_why_there_was_no_mission(run, record):
    for file in record.iterdir():
        file.unlink()
    why = "the simulation ended: /full/run/meshes/a.stl: No space left on device; free some space there"
    code, output, _ = run(code=1, says=f"[sim_bridge-1] [FATAL] [1795727760.04] [openral.sim_bridge]: {why}")
    assert code == 1
    assert f"no mission was run: {why}" in output


def test_what_a_node_says_commands_no_terminal(run, record):
    for file in record.iterdir():
        file.unlink()
    _, output, _ = run(code=1, says="[x-1] [FATAL] [1795727760.04] [x]: no skill \x1b]0;owned\x07")
    assert "\x1b" not in output
    assert output.count(r"no skill \x1b]0;owned\x07") == 2


def test_a_run_folder_that_is_removed_meanwhile_ends_no_deployment(run, monkeypatch, tmp_path):
    (tmp_path / "record" / "mission.json").unlink()
    monkeypatch.setattr(sys.modules[__name__], "STAND_IN", REMOVES)
    code, output, folder = run()
    assert code == 1
    assert "no mission was run: the launch ended with code 0 before one began" in output
    assert not folder.exists()


def test_words_that_are_none_are_no_mission(run):
    code, output, folder = run("--mission", " ")
    assert code == 2
    assert "it is empty" in output
    assert not folder.exists()


def test_a_folder_that_holds_a_run_is_not_overwritten(run):
    run()
    code, _, _ = run()
    assert code == 1


def test_the_film_can_be_had(run):
    code, _, folder = run("--video")
    assert code == 0
    assert (folder / "mission.mp4").stat().st_size > 1000
    with np.load(folder / "truth.npz") as truth:
        assert json.loads((folder / "run.json").read_text())["film_begin_s"] in truth["stamp_s"]


@pytest.mark.parametrize("long", [False, True])
def test_only_of_a_long_run_it_is_said_that_its_film_takes_minutes(run, monkeypatch, long):
    if long:
        monkeypatch.setattr(mission_video, "LONG_FILM", 12)
    _, output, _ = run("--video")
    assert "rendering mission.mp4, 12 frames" in output
    assert ("minutes" in output) == long
