"""`openral robot` with an arm that does what it is told, and with the twin."""

from __future__ import annotations

import multiprocessing
import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from arm_scenes import read_arm_scene, write_arm_scene
from twin_process import TwinProcess
from typer.testing import CliRunner

from openral_control.estop_latch import EStopLatch, latch_of_arm
from openral_core.errors import ContractError, ControlError, ManifestError, OutputError, UsageError
from openral_core.files.share import share_directory
from openral_core.hardware.arm_mode import ArmMode
from openral_core.scene import load_scene
from openral_robot_bridge.commands import app
from openral_robot_bridge.driver import ArmError, ArmState
from openral_robot_bridge.process import ArmProcess
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.robot_arm import RobotArm
from openral_robot_bridge.scene_loading import load_arm_scene, robot_command
from openral_robot_bridge.twins import robosuite_export
from openral_robot_bridge.twins.robosuite_export import write_world
from openral_robot_bridge.urdf_limits import read_limits

SHARE = share_directory()


@pytest.fixture
def fake_scene(tmp_path: Path) -> str:
    """The scene of the FR3, with a fake arm that begins a bit beside the start pose of the scene."""
    content = read_arm_scene("fr3_tabletop")
    content["arm"]["driver"] = "fake"
    return str(write_arm_scene(tmp_path, content))


def test_check_compares_the_arm_with_its_robot(fake_scene: str) -> None:
    result = CliRunner().invoke(app, ["check", fake_scene])
    assert result.exit_code == 0, result.output
    for word in ("fr3_joint7", "start pose", "the arm is near it", "idle"):
        assert word in result.output


@pytest.mark.parametrize(
    ("change", "row"),
    [
        (
            {"workspace": {"low": [0.25, 0.2, 0.02], "high": [0.75, 0.45, 0.7]}, "home": [0.52, 0.3, 0.15]},
            "workspace",
        ),
        pytest.param(
            {"elbow": {"low": [0.7, 0.5, 0.9], "high": [0.8, 0.6, 1.0]}},
            "arm.safety.elbow",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_check_finds_a_start_pose_out_of_a_box(tmp_path: Path, change: dict[str, Any], row: str) -> None:
    content = read_arm_scene("fr3_tabletop")
    content["arm"]["driver"] = "fake"
    (content["arm"]["safety"] if "elbow" in change else content).update(change)
    result = CliRunner().invoke(app, ["check", str(write_arm_scene(tmp_path, content))])
    assert result.exit_code == 1, result.output
    said = " ".join(result.output.split())
    part = "the elbow" if "elbow" in change else "the hand"
    assert re.search(
        rf"{re.escape(row)} .*{part} is outside: \(.*where the arm is; .* at the start pose", said
    )
    assert f"widen {row} in the scene" in said


def test_home_asks_first(fake_scene: str) -> None:
    refused = CliRunner().invoke(app, ["home", fake_scene], input="n\n")
    assert refused.exit_code == 1
    assert "out of its reach" in refused.output
    done = CliRunner().invoke(app, ["home", fake_scene], input="y\n")
    assert done.exit_code == 0, done.output
    assert "the arm is at its start pose" in done.output


def test_home_does_not_move_an_arm_whose_emergency_stop_is_latched(
    fake_scene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    latch = EStopLatch(latch_of_arm("fake", "172.16.0.7"))
    latch.latch()
    ended = CliRunner().invoke(app, ["home", fake_scene, "--yes", "--address", "172.16.0.7"])
    assert isinstance(ended.exception, ArmError)
    assert str(latch.path) in str(ended.exception)
    assert "ros2 service call /openral/estop_reset" in str(ended.exception)
    latch.release()
    done = CliRunner().invoke(app, ["home", fake_scene, "--yes", "--address", "172.16.0.7"])
    assert done.exit_code == 0, done.output


def test_an_interrupted_home_says_that_the_arm_rests(
    fake_scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(settings: HostSettings) -> ArmProcess:
        return ArmProcess(replace(settings, start=settings.start + 0.5 * np.eye(7)[0]))

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("openral_robot_bridge.homing.RobotArm", partial(RobotArm, connect=elsewhere))
    monkeypatch.setattr(
        "openral_robot_bridge.homing.time", SimpleNamespace(monotonic=time.monotonic, sleep=interrupt)
    )
    ended = CliRunner().invoke(app, ["home", fake_scene, "--yes"])
    assert ended.exit_code == 130
    assert ended.output.splitlines()[1:] == ["interrupted; the arm was brought to rest"]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("mode", "fix"),
    [
        (ArmMode.REFLEX, "openral robot recover"),
        pytest.param(ArmMode.USER_STOPPED, "release", marks=pytest.mark.slow),
    ],
)
def test_an_arm_that_cannot_be_moved_is_not_at_home(
    fake_scene: str, monkeypatch: pytest.MonkeyPatch, mode: ArmMode, fix: str
) -> None:
    """It begins at its start pose, so that there is no way to go."""

    class Stopped(ArmProcess):
        def read(self) -> ArmState:
            return replace(super().read(), mode=mode, faults=("as a test has it",))

    for module in ("homing", "arm_check"):
        monkeypatch.setattr(f"openral_robot_bridge.{module}.RobotArm", partial(RobotArm, connect=Stopped))
    ended = CliRunner().invoke(app, ["home", fake_scene, "--yes"])
    assert isinstance(ended.exception, ArmError)
    assert f"the arm cannot be moved ({mode.value}, as a test has it)" in str(ended.exception)
    checked = CliRunner().invoke(app, ["check", fake_scene])
    assert checked.exit_code == 1
    said = " ".join(checked.output.split())
    assert fix in said
    assert ("recover" in said) == (mode is ArmMode.REFLEX)


@pytest.mark.parametrize("command", [["check"], ["home", "--yes"], ["recover"]])
def test_a_start_pose_out_of_range_is_refused_before_the_arm_is_connected(
    tmp_path: Path, command: list[str]
) -> None:
    content = read_arm_scene("fr3_tabletop")
    content["scene"]["backend_options"]["home"] |= {"fr3_joint4": -133, "fr3_joint6": 4.45}
    path = write_arm_scene(tmp_path, content)
    error = CliRunner().invoke(app, [*command, str(path)]).exception
    assert isinstance(error, ManifestError)
    degrees, margin = str(error).splitlines()
    assert re.search(r"scene\.yaml:\d+: home\.fr3_joint4: -133 rad is outside of the range of fr3", degrees)
    assert degrees.endswith("write -2.942 to -0.252 rad; angles are in radians, and -133 degrees are -2.321")
    assert "4.45 rad is outside of the range of fr3 less arm.safety.position_margin_rad (0.1)" in margin


def test_a_command_that_is_advised_names_the_scene_and_the_address_that_is_not_its_own(
    tmp_path: Path,
) -> None:
    path = write_arm_scene(tmp_path, read_arm_scene("fr3_tabletop"))
    file = SHARE / "scenes/robot/fr3_tabletop.yaml"
    for ref, address, command in (
        ("fr3_tabletop", "", "openral robot home fr3_tabletop"),
        (str(file), "", "openral robot home fr3_tabletop"),
        ("fr3_tabletop", "10.0.0.7", "openral robot home fr3_tabletop --address 10.0.0.7"),
        (str(path), "127.0.0.1", f"openral robot home {path}"),
    ):
        assert robot_command("home", load_arm_scene(ref, address)) == command


def test_an_arm_that_is_not_there_on_this_machine_has_a_twin_that_is_started_by_its_scene() -> None:
    error = CliRunner().invoke(app, ["check", "sawyer_tabletop", "--address", "127.250.250.250"]).exception
    assert isinstance(error, ArmError)
    assert str(error).endswith("terminal: openral robot twin sawyer_tabletop --address 127.250.250.250")


def test_a_scene_without_an_arm_is_refused() -> None:
    result = CliRunner().invoke(app, ["check", "tabletop_panda"])
    assert isinstance(result.exception, ManifestError)
    assert "arm is missing" in str(result.exception)


@pytest.mark.parametrize("address", ["not an address", "172.16..2", "192.168.1.2..", f"fr{64 * '3'}.local"])
def test_an_address_that_is_none_is_one_line(address: str) -> None:
    error = CliRunner().invoke(app, ["check", "fr3_tabletop", "--address", address]).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"--address '{address}': is no host name and no IP address; write ")
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("scene", "address"), [("fr3_tabletop", ""), ("panda_tabletop", " "), ("sawyer_tabletop", ":11311")]
)
def test_a_twin_does_not_listen_everywhere_where_its_address_is_empty(scene: str, address: str) -> None:
    """As by an unset variable of a shell; sockets take an empty host for all addresses of the machine."""
    error = CliRunner().invoke(app, ["twin", scene, "--address", address]).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"--address '{address}' names no host; write an address of this machine")


def test_trials_do_not_run_where_the_address_is_empty(tmp_path: Path) -> None:
    out, skill = str(tmp_path / "run"), "mini-robosuite-panda"
    error = CliRunner().invoke(app, ["try", "fr3_tabletop", "--rskill", skill, "--out", out, "--address", ""])
    assert isinstance(error.exception, UsageError)
    assert str(error.exception).startswith("--address '' names no host")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", [["check"], ["home", "--yes"], ["recover"]])
def test_an_empty_address_is_not_the_scenes(fake_scene: str, command: list[str]) -> None:
    error = CliRunner().invoke(app, [*command, fake_scene, "--address", ""]).exception
    assert isinstance(error, UsageError)
    assert str(error).startswith("--address is empty; write the arm's address, or leave the option out")


def test_check_and_recover_work_through_the_real_client(twin: TwinProcess) -> None:
    twin.tell("fail joint_reflex")
    stopped = CliRunner().invoke(app, ["check", "fr3_tabletop", "--address", twin.address])
    assert stopped.exit_code == 1
    assert "reflex, joint_reflex" in stopped.output
    assert "openral robot recover" in stopped.output
    recovered = CliRunner().invoke(app, ["recover", "fr3_tabletop", "--address", twin.address])
    assert recovered.exit_code == 0, recovered.output
    checked = CliRunner().invoke(app, ["check", "fr3_tabletop", "--address", twin.address])
    assert checked.exit_code == 0, checked.output


def test_limits_are_read_from_a_urdf_by_the_ends_of_names() -> None:
    urdf = (SHARE / "robots/fr3/fr3.urdf").read_text()
    names = tuple(f"fr3_joint{number}" for number in range(1, 8))
    assert read_limits(urdf, names).high[3] == read_limits(urdf.replace("fr3_", ""), names).high[3] == -0.1458


@pytest.mark.parametrize(
    ("urdf", "fault"),
    [
        ("no XML", "cannot be read"),
        ("<!DOCTYPE robot><robot/>", "declares entities"),
        ("<robot/>", "0 revolute joints for fr3_joint1; it has none"),
        (
            '<robot><joint name="fr3_jiont1" type="revolute"/></robot>',
            "for fr3_joint1; did you mean 'fr3_jiont1' in",
        ),
        ('<robot><joint name="joint1" type="revolute"/></robot>', "gives joint fr3_joint1 no limit"),
        (
            '<robot><joint name="joint1" type="revolute"><limit lower="0" upper="x" velocity="1"/></joint></robot>',
            "lacks a number",
        ),
    ],
)
def test_a_urdf_that_cannot_be_used_is_named(urdf: str, fault: str) -> None:
    with pytest.raises(ControlError, match=fault):
        read_limits(urdf, ("fr3_joint1",))


@pytest.mark.parametrize(
    ("skill", "why"),
    [
        ("mini-metaworld", r"embodiment: robot fr3 .*needed sawyer"),
        ("mini-progress", "is a reward, needed vla"),
    ],
)
def test_a_skill_that_does_not_fit_is_not_tried(skill: str, why: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["try", "fr3_tabletop", "--rskill", skill, "--lockstep", "--out", str(out)]
    with pytest.raises(ContractError, match=why):
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert not out.exists()


@pytest.mark.parametrize("verb", ["try", "world"])
def test_what_an_earlier_run_left_is_not_written_over(verb: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("an earlier run's")
    words = {"try": ["--rskill", "mini-robosuite-panda"], "world": []}[verb]
    refused = CliRunner().invoke(app, [verb, "fr3_robosuite_lift", *words, "--out", str(tmp_path)]).exception
    assert isinstance(refused, OutputError)
    assert str(refused) == (
        f"--out {tmp_path}: holds something already, which is not written over; name a new folder, or an empty one"
    )
    assert (tmp_path / "result.json").read_text() == "an earlier run's"


@pytest.mark.parametrize(
    ("stream_hz", "fault"),
    [
        (5, r"arm\.stream_hz: 5 Hz is below control_hz, .*; write 20 to 1000"),
        (4000, r"arm\.stream_hz: .*1000"),
    ],
)
def test_a_rate_at_which_targets_cannot_be_streamed_is_refused(
    tmp_path: Path, stream_hz: float, fault: str
) -> None:
    content = read_arm_scene("fr3_tabletop")
    content["arm"]["stream_hz"] = stream_hz
    with pytest.raises(ManifestError, match=fault):
        load_arm_scene(str(write_arm_scene(tmp_path, content)))


@pytest.mark.parametrize("model", ["../outside.xml", "/tmp/outside.xml", "sub/scene.xml", ".."])
def test_a_world_is_written_into_its_folder_alone(tmp_path: Path, model: str) -> None:
    content = read_arm_scene("fr3_robosuite_lift")
    content["scene"]["backend_options"]["model"] = model
    scene, out = write_arm_scene(tmp_path, content), tmp_path / "out"
    error = CliRunner().invoke(app, ["world", str(scene), "--out", str(out), "--count", "1"]).exception
    assert isinstance(error, ManifestError)
    assert "model: is no name of a file beside the scene; write one such as scene.xml" in str(error)
    assert not out.exists()


@pytest.mark.parametrize("begins", ["    init_id: 1000  # as trained\n", "    init_id: 1000\n", ""])
def test_the_scene_of_a_written_world_begins_at_its_first_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begins: str
) -> None:
    text = (share_directory() / "scenes/robot/fr3_robosuite_lift.yaml").read_text()
    scene, out = tmp_path / "lift.yaml", tmp_path / "out"
    scene.write_text(text.replace("    init_id: 1000\n", begins))
    worlds = SimpleNamespace(
        model_xml=lambda: "<mujoco/>",
        reset=lambda tasks, states: None,
        snapshot=lambda: SimpleNamespace(qpos=np.zeros(9)),
        close=lambda: None,
    )
    monkeypatch.setattr(robosuite_export, "open_robosuite", lambda *_, **__: worlds)
    monkeypatch.setattr(robosuite_export, "_become_fr3", lambda *_: None)
    write_world(load_scene(str(scene)), out, 1200, 1)
    assert load_scene(str(out / "lift.yaml")).init_id == 1200
