"""A broken scene is refused with one line for each fault, which names the place and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from mjcf_parts import JOINT_ACTION, MODEL, OPTIONS, ROBOT, small_scene, write_scene

from openral_core.errors import ManifestError, NotFoundError, SimulationError
from openral_sim_bridge.backends.mjcf.backend import MjcfBackend, open_mjcf
from openral_sim_bridge.scene_check import check_scene

PAN = '<position name="pan" joint="pan" kp="200" kv="20"/>'
SIX = {
    "representation": "delta_ee_6d_plus_gripper",
    "dim": 7,
    "low": [-1] * 7,
    "high": [1] * 7,
    "step_m": 0.02,
}
LOCKED = {**ROBOT, "end_effectors": [{**ROBOT["end_effectors"][0], "max_opening_m": None}]}
BALL_JOINT = MODEL.replace('<joint name="pan" axis="0 0 1" range="-3 3"', '<joint name="pan" type="ball"')

SWAPPED = {**ROBOT, "joints": [ROBOT["joints"][1], ROBOT["joints"][0], *ROBOT["joints"][2:]]}

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "no model": (
        {"model": MODEL, "options": {"model": "elsewhere.xml"}},
        r"scene\.yaml:\d+: model: there is no file .*elsewhere\.xml; write the path",
    ),
    "model in a home that nobody has": (
        {"model": MODEL, "options": {"model": "~no-such-user/arm.xml"}},
        r"model: there is no file .*~no-such-user/arm\.xml; write the path",
    ),
    "model of a world that has to be written": (
        {"model": MODEL, "options": {"model": "elsewhere.xml", "keyframes": "init"}},
        r"there is no file .*; make it by `openral robot world .*scene\.yaml --out FOLDER` and use the scene there",
    ),
    "bad xml": (
        {"model": MODEL.replace("</worldbody>", "</wordbody>")},
        r"model: MuJoCo refuses .*model\.xml \(.*XML.*\); fix the model there",
    ),
    "unknown element": (
        {"model": MODEL.replace('<geom name="floor"', '<geon name="floor"')},
        r"MuJoCo refuses .*geon",
    ),
    "missing actuator": (
        {
            "model": MODEL.replace(PAN, "")
            .replace('ctrl="0.1 0.2 0.1 0.05"', "")
            .replace('ctrl="0.1 0.4 0.1 0.05"', "")
        },
        r'no actuators move joint pan; give it one: <position joint="pan"',
    ),
    "two actuators": (
        {
            "model": MODEL.replace(PAN, PAN + '<motor joint="pan"/>')
            .replace('0.1 0.05"/>', '0.1 0.05"/>')
            .replace(' ctrl="0.1 0.2 0.1 0.05"', "")
            .replace(' ctrl="0.1 0.4 0.1 0.05"', "")
        },
        "2 actuators move joint pan",
    ),
    "velocity actuator": (
        {"model": MODEL.replace(PAN, '<velocity name="pan" joint="pan" kv="20"/>')},
        "actuator pan of joint pan is a velocity actuator; make it a <position> or a <motor>",
    ),
    "no joint": (
        {"model": MODEL.replace('"pan"', '"spin"')},
        "the model has no joint 'pan'; it has spin, lift, reach",
    ),
    "another robot": (
        {
            "model": MODEL.replace('"pan"', '"spin"')
            .replace('"lift"', '"heave"')
            .replace('"reach"', '"extend"')
        },
        r"model: has none of the joints of small_arm \(pan to reach\); it has spin, heave, extend.*; write the",
    ),
    "joint of another kind": (
        {"model": MODEL.replace('"pan"', '"spin"'), "options": {"names": {"pan": "spinn"}}},
        r"the model has no joint 'spinn' \(names: pan\); did you mean 'spin'\?",
    ),
    "joints in another order than the arm's": (
        {"robot": SWAPPED},
        r"model: small_arm's robot\.yaml has lift before pan, from which it hangs; list the arm's joints from the base",
    ),
    "no hand": (
        {"model": MODEL.replace('"tool"', '"toool"')},
        "no body or site 'tool'; did you mean 'toool'?",
    ),
    "no keyframe": (
        {"options": {"home": "ready"}},
        "home: the model has no keyframe 'ready'; it has home, low",
    ),
    "degrees for radians": (
        {"options": {"home": {"pan": -133, "lift": 0.2, "reach": 0.1}}},
        r"scene\.yaml:\d+: home\.pan: -133 rad is outside of the range of small_arm; write -3\.000 to 3\.000 rad; "
        r"angles are in radians, and -133 degrees are -2\.321",
    ),
    "start pose in words": (
        {"options": {"home": {"pan": "far"}}},
        r"scene\.yaml:\d+: home\.pan: 'far': input should be a valid number; write a number$",
    ),
    "slide beyond its range": (
        {"options": {"home": {"reach": 0.4}}},
        r"home\.reach: 0\.4 m is outside of the range of small_arm; write 0\.000 to 0\.300 m$",
    ),
    "keyframe out of range": (
        {"model": MODEL.replace('"low" qpos="0.1 0.4', '"low" qpos="0.1 1.6'), "options": {"home": "low"}},
        r"home: lift begins at 1\.6 rad, which is outside of the range of small_arm; begin it at -1\.500 to 1\.500",
    ),
    "start of a task out of range": (
        {
            "model": MODEL.replace('"low" qpos="0.1 0.4', '"low" qpos="0.1 1.6'),
            "options": {"starts": {"touch": "low"}},
        },
        r"starts\.touch: lift begins at 1\.6 rad",
    ),
    "joint that is not given, out of range": (
        {
            "model": MODEL.replace('range="-3 3"', 'range="-3 3" ref="3.5"'),
            "options": {"home": {"lift": 0.2}},
        },
        r"scene\.yaml:\d+: home: pan begins at 3\.5 rad, which is outside",
    ),
    "numbered keyframes out of range": (
        {
            "model": MODEL.replace('"home"', '"at0"').replace('"low" qpos="0.1 0.4', '"at1" qpos="0.1 1.6'),
            "options": {"keyframes": "at"},
        },
        r"keyframes: lift begins at 1\.6 rad",
    ),
    "no such body": (
        {"options": {"place": {"bal": {"x": [0, 1]}}}},
        r"scene\.yaml:\d+: place\.bal: the model has no body 'bal'; did you mean 'ball'\?",
    ),
    "body that is not free": (
        {"options": {"place": {"upper": {"x": [0, 1]}}}},
        "body upper cannot be placed; give it a <freejoint/>",
    ),
    "empty range": ({"options": {"place": {"ball": {"x": [1, 0]}}}}, r"place\.ball\.x: \[1, 0\] is empty"),
    "task without success": (
        {"options": {"tasks": ["touch", "jump"]}},
        r"success: says nothing about task 'jump'; add a condition",
    ),
    "condition with two keys": (
        {
            "options": {
                "success": {"touch": {"height": {"of": "ball", "above": 1}, "touching": ["ball", "box"]}}
            }
        },
        r"success\.touch\.height: has 2 keys \(height, touching\); write one of all, any",
    ),
    "condition on nothing": (
        {"options": {"success": {"touch": {"any": [{"joint": {"of": "lid", "above": 1}}]}}}},
        r"success\.touch\.any\[0\]\.joint\.of: the model has no joint 'lid'; it has pan",
    ),
    "condition of no known kind": (
        {"options": {"success": {"touch": {"hight": {"of": "ball", "above": 1}}}}},
        r"success\.touch\.hight: unknown key",
    ),
    "no limit": ({"options": {"success": {"touch": {"height": {"of": "ball"}}}}}, "add above, below or both"),
    "condition on the position of a loose body": (
        {
            "model": MODEL.replace("<freejoint/>", '<freejoint name="loose"/>', 1),
            "options": {"success": {"touch": {"joint": {"of": "loose", "above": 0.5}}}},
        },
        r"success\.touch\.joint\.of: loose is neither a hinge nor a slide; judge the body by inside, height",
    ),
    "limits that no number is between": (
        {"options": {"success": {"touch": {"height": {"of": "ball", "above": 0.5, "below": 0.2}}}}},
        r"success\.touch\.height\.above: is not below 0\.2; no number lies above 0\.5 and below 0\.2",
    ),
    "box without room": (
        {"options": {"success": {"touch": {"inside": {"of": "ball", "low": [0, 0, 1], "high": [1, 1, 0]}}}}},
        r"success\.touch\.inside\.high: \(1\.0, 1\.0, 0\.0\) is below low",
    ),
    "unknown option": ({"options": {"keyframe": "home"}}, r"keyframe: unknown key"),
    "no gripper": ({"options": {"gripper": None}}, "gripper is absent; say which joints are its fingers"),
    "gripper without width": ({"robot": LOCKED}, "has no max_opening_m; add it to robot.yaml"),
    "wrong length": (
        {"action": {**JOINT_ACTION, "dim": 3, "low": [-1] * 3, "high": [1] * 3}},
        "joint_positions of this robot has 3 of the arm and one of the gripper; fix dim",
    ),
    "unknown action": (
        {"action": {**SIX, "representation": "joint_velocities"}},
        "joint_velocities is not understood here; use one of delta_ee_6d_plus_gripper",
    ),
    "too few joints": ({"action": SIX}, "turns the hand, for which 3 joints are too few; use delta_ee_3d"),
    "mocap of joints": ({"action": JOINT_ACTION, "options": {"mocap": "ball"}}, "body ball is no mocap body"),
    "timestep": ({"control_hz": 30}, r'timestep 0.002 s does not divide .* write <option timestep="0\.0019'),
    "timestep of zero": (
        {"model": MODEL.replace('"0.002"', '"0"', 1)},
        r'model: its timestep 0 s is no duration; write <option timestep="0\.002"/> in the model',
    ),
    "timestep that is no number": (
        {"model": MODEL.replace('"0.002"', '"nan"', 1)},
        r"model: its timestep nan s is no duration; write <option timestep=",
    ),
    "numbered keyframe of another script": (
        {"model": MODEL.replace('"home"', '"at²"'), "options": {"keyframes": "at"}},
        "keyframes: no keyframe begins with at; name keyframes of the model at0, at1",
    ),
    "number of a keyframe without end": (
        {"model": MODEL.replace('"home"', f'"at{"9" * 5000}"'), "options": {"keyframes": "at"}},
        "keyframes: no keyframe begins with at; name keyframes of the model at0, at1",
    ),
    "camera without perspective": (
        {"model": MODEL.replace('name="front"', 'name="front" orthographic="true"')},
        'camera front is orthographic, .*; remove orthographic="true" in the model',
    ),
    "no camera": (
        {"cameras": ("front", "top")},
        "model.xml has no camera 'top'; it has front, turns, eye, on_ball",
    ),
    "camera that turns": ({"cameras": ("turns",)}, 'camera turns turns by itself; write mode="fixed"'),
    "camera on a thing": ({"cameras": ("on_ball",)}, "camera on_ball rides on body ball, which moves"),
    "no base frame": (
        {"robot": {**ROBOT, "base_frame": "foot"}},
        "the model has no body 'foot'; see base_frame",
    ),
    "look": ({"options": {"render_profile": "cinema"}}, "there is no 'cinema'; use one of published, fast"),
    "no room": ({"options": {"apart_m": 2.0}}, "2 bodies found no room 2 m apart in 200 draws; widen"),
    "ball joint": (
        {"model": BALL_JOINT.replace('qpos="', 'qpos="1 0 0 ')},
        "joint pan is neither a hinge nor a slide",
    ),
}


@pytest.mark.parametrize(("changes", "text"), CASES.values(), ids=CASES.keys())
def test_each_fault_is_one_line_with_its_fix(tmp_path: Path, changes: dict[str, Any], text: str) -> None:
    changes = dict(changes)
    options = changes.pop("options", {})
    model_file = {"model": options.pop("model")} if "model" in options else {}
    scene = small_scene(tmp_path, **changes, **options)
    if model_file:
        path = tmp_path / "scene.yaml"
        path.write_text(path.read_text().replace("model: model.xml", f"model: {model_file['model']}"))
        from openral_core.scene import load_scene

        scene = load_scene(path)
    with pytest.raises((ManifestError, NotFoundError, SimulationError), match=text) as caught:
        open_mjcf(scene)
    assert len(str(caught.value).splitlines()) == 1


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    broken = MODEL.replace('"pan"', '"spin"').replace('"tool"', '"tcp"')
    with pytest.raises(ManifestError) as caught:
        open_mjcf(small_scene(tmp_path, model=broken, gripper={"joints": ["thumb"]}))
    lines = str(caught.value).splitlines()
    assert [word in line for word, line in zip(("'pan'", "'tool'", "'thumb'"), lines, strict=True)] == [
        True
    ] * 3


def play(backend: MjcfBackend, action: Any) -> None:
    for _ in range(100):
        backend.step(action[None])


def test_a_world_that_explodes_is_an_error_and_not_a_reset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    hot = MODEL.replace('integrator="implicitfast"', 'integrator="Euler"').replace(
        'kp="500" kv="50"', 'kp="5e9" kv="0"'
    )
    backend = open_mjcf(small_scene(tmp_path, model=hot, success=OPTIONS["success"]))
    action = backend.hold_action(None)
    action[0] = 1.0
    with pytest.raises(
        SimulationError, match=r"touch: the simulation diverged at step \d+ .*timestep of 0\.002 s"
    ):
        play(backend, action)
    assert "The simulation is unstable" in caplog.text
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_wrong_calls_name_the_fix(tmp_path: Path) -> None:
    backend = open_mjcf(small_scene(tmp_path))
    with pytest.raises(NotFoundError, match="task 'raise' is not of this scene, which has touch"):
        backend.reset(["raise"], [0])
    with pytest.raises(SimulationError, match="init_id must be >= 0, not -1"):
        backend.reset(["touch"], [-1])


def test_the_check_tells_what_does_not_hold(tmp_path: Path) -> None:
    """An arm that sinks, a task that is done at the start, a link that robot.yaml dreams of."""
    limp = MODEL.replace(' gravcomp="1"', "").replace('kp="200" kv="20"', 'kp="20" kv="5"')
    robot = {**ROBOT, "joints": [{**ROBOT["joints"][0], "child_link": "shoulder"}, *ROBOT["joints"][1:]]}
    done = {"touch": {"height": {"of": "tool", "above": 0.0}}}
    report = check_scene(str(write_scene(tmp_path / "bad", model=limp, robot=robot, success=done)))
    wrong = {row.what: row for row in report.rows if not row.ok}
    assert {"links", "tasks", "holds"} <= set(wrong)
    assert "no shoulder" in wrong["links"].found
    assert "done at the start: touch" in wrong["tasks"].found
    assert "gravcomp" in wrong["holds"].fix
    good = check_scene(str(write_scene(tmp_path / "good")))
    assert good.ok, [row for row in good.rows if not row.ok]
    assert good.pictures["front"].shape == (48, 64, 3)


def test_a_scene_of_joint_actions_is_checked_without_a_workspace(tmp_path: Path) -> None:
    path = write_scene(tmp_path, action=JOINT_ACTION)
    content = yaml.safe_load(path.read_text())
    del content["workspace"]
    path.write_text(yaml.safe_dump(content))
    report = check_scene(str(path), states=2)
    assert report.ok, [row for row in report.rows if not row.ok]
    assert "workspace" not in {row.what for row in report.rows}


def test_the_check_shows_each_fault_of_the_files_as_a_row(tmp_path: Path) -> None:
    broken = MODEL.replace('"pan"', '"spin"').replace('"tool"', '"tcp"')
    report = check_scene(str(write_scene(tmp_path, model=broken)))
    assert [row.ok for row in report.rows] == [False, False]
    assert report.rows[0].found.endswith("model: the model has no joint 'pan'")
    assert report.rows[0].fix.startswith("it has spin")
