"""Parameters of motions: what is refused and in which words, and that manifests say the same as the code."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openral_control.motions import MOTIONS, MotionArm, MotionRefused, make_motion, params_of, params_schema
from openral_core.errors import ContractError
from openral_core.files.share import share_directory
from openral_core.goal_params import check_goal_params, parse_goal_params
from openral_core.manifest import load_manifest
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState

TOOL = Path(__file__).parents[3] / "tools" / "motion_manifests.py"
NEEDED: dict[str, dict[str, Any]] = {
    "home": {},
    "move_to": {"position": [0.0, 0.6, 0.2]},
    "retract": {},
    "set_gripper": {"fingers": "open"},
    "nudge": {"direction": "+x"},
    "pick_at": {"point": [0.0, 0.6, 0.1]},
    "place_at": {"point": [0.0, 0.6, 0.1]},
    "look_from": {"point": [0.0, 0.6, 0.1]},
}
"""The least that each motion takes."""


@pytest.fixture(scope="module")
def arm() -> MotionArm:
    scene = load_scene("metaworld_drawer")
    return MotionArm.of(scene, load_robot(scene.robot_id))


def state_at(x: float, y: float, z: float, opening_m: float = 0.1) -> RobotState:
    return RobotState(0.0, (), np.zeros(0), np.array([x, y, z]), np.array([1.0, 0.0, 0.0, 0.0]), opening_m)


def test_manifests_and_readmes_are_those_of_the_code() -> None:
    checked = subprocess.run(
        [sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("name", MOTIONS)
def test_a_motion_has_a_manifest_with_its_schema(name: str) -> None:
    manifest = load_manifest(share_directory() / "rskills" / f"motion-{name.replace('_', '-')}")
    assert manifest.goal_params_schema == params_schema(name)
    assert manifest.embodiment_tags == ("any",)


@pytest.mark.parametrize("name", MOTIONS)
def test_the_least_that_a_motion_takes_is_enough(name: str, arm: MotionArm) -> None:
    parsed = parse_goal_params(name, params_schema(name), json.dumps(NEEDED[name]))
    make_motion(name, parsed, arm).begin(state_at(0.0, 0.6, 0.2))


@pytest.mark.parametrize("name", [name for name, needed in NEEDED.items() if needed])
def test_what_is_needed_is_named_where_it_is_missing(name: str) -> None:
    (needed,) = NEEDED[name]
    with pytest.raises(ContractError, match=f"{needed} is missing"):
        parse_goal_params(name, params_schema(name), "")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("home", "{", "params_json is not JSON"),
        ("home", "[1]", "not a JSON object"),
        ("home", "[" * 5000, "not JSON"),
        ("home", " " * 16_385, "16385 characters; send at most 16384"),
        ("home", '{"spede_m_s": 0.1}', "unknown 'spede_m_s'; did you mean speed_m_s?"),
        ("home", '{"a\\u0000b": 1}', "unknown 'a\\x00b'; its parameters: speed_m_s"),
        ("home", '{"\\ud800": 1}', "is not JSON"),
        ("home", '{"speed_m_s": 0.009}', "speed_m_s is 0.009; send at least 0.01"),
        ("home", '{"speed_m_s": 0.6}', "speed_m_s is 0.6; send at most 0.5"),
        ("home", '{"speed_m_s": "fast"}', "speed_m_s is 'fast'; send a value of type number"),
        ("home", '{"speed_m_s": true}', "speed_m_s is True; send a value of type number"),
        ("home", '{"speed_m_s": NaN}', "speed_m_s is nan; send a finite number"),
        ("home", '{"speed_m_s": 1e999}', "speed_m_s is inf; send a finite number"),
        ("home", '{"speed_m_s": null}', "speed_m_s is None; send a value of type number"),
        ("home", '{"position": [0, 0.6]}', "position is [0, 0.6]; send at least 3 items"),
        ("home", '{"position": [0, 0.6, 0.2, 0]}', "send at most 3 items"),
        ("home", '{"position": [0, 0.6, "up"]}', "position[2] is 'up'; send a value of type number"),
        ("home", '{"position": [0, 0.6, NaN]}', "position[2] is nan; send a finite number"),
        ("home", '{"position": [0, 0.6, 11]}', "position[2] is 11; send at most 10"),
        ("home", '{"gripper": "shut"}', "gripper is 'shut'; send one of keep, open, closed"),
        ("set_gripper", '{"fingers": "wide"}', "fingers is 'wide'; send one of open, closed"),
        ("nudge", '{"direction": "up"}', "direction is 'up'; send one of +x, -x"),
        ("nudge", '{"direction": "+x", "distance_m": 0.3}', "distance_m is 0.3; send at most 0.2"),
        ("retract", '{"height_m": -0.1}', "height_m is -0.1; send at least 0.01"),
        ("pick_at", '{"point": {"x": 1}}', "point is {'x': 1}; send a value of type array"),
        ("look_from", '{"point": [0, 0.6, 0.1], "yaw": 3}', "yaw is 3; send at most 1.5708"),
    ],
)
def test_bad_parameters_are_refused_in_one_line_that_names_them(name: str, text: str, words: str) -> None:
    with pytest.raises(ContractError) as refused:
        parse_goal_params(name, params_schema(name), text)
    assert words in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_beyond_those_of_a_computer_is_not_finite(sign: str) -> None:
    schema = {"properties": {"force": {"type": "number"}}}
    with pytest.raises(ContractError, match=r"force is -?10+ …; send a finite number"):
        parse_goal_params("somebody's", schema, f'{{"force": {sign}1{"0" * 400}}}')
    assert parse_goal_params("somebody's", schema, f'{{"force": {sign}1e300}}')


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"$ref": "http://127.0.0.1/schema"}}}, "uses '$ref', which is not run here"),
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, "uses 'pattern', which is not run here"),
        ({"type": "objct"}, "goal_params_schema.type is no JSON Schema"),
        ({"properties": 5}, "goal_params_schema.properties is no JSON Schema"),
        ({"properties": {"a": {"minimum": "0"}}}, "is no JSON Schema"),
        ({"title": "\ud800"}, "is no JSON Schema"),
        (
            {"$schema": "http://127.0.0.1/other", "maximum": "x"},
            "goal_params_schema.maximum is no JSON Schema",
        ),
    ],
)
def test_schemas_from_the_graph_are_run_in_a_closed_part_only(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(ContractError) as refused:
        check_goal_params("somebody's", schema, {"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"})
    assert words in str(refused.value)


def test_what_is_unknown_or_missing_inside_a_parameter_is_named_there() -> None:
    grip = {
        "type": "object",
        "properties": {"force": {}},
        "required": ["force"],
        "additionalProperties": False,
    }
    schema = {"properties": {"grips": {"type": "array", "items": grip}}}
    with pytest.raises(ContractError, match=r"grips\[1\]: unknown 'forse'; did you mean force\?"):
        check_goal_params("somebody's", schema, {"grips": [{"force": 1}, {"force": 1, "forse": 2}]})
    with pytest.raises(ContractError, match=r"grips\[0\]: force is missing; its parameters: force"):
        check_goal_params("somebody's", schema, {"grips": [{}]})


def test_a_schema_that_is_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {"type": "array"}
    for _ in range(5000):
        schema = {"type": "array", "items": schema}
    with pytest.raises(ContractError, match="lies too deep"):
        check_goal_params("somebody's", {"properties": {"a": schema}}, {"a": []})


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        (
            "home",
            {"position": [0.6, 0.6, 0.2]},
            "x = 0.600 m is outside the workspace; it must be at most 0.55",
        ),
        (
            "move_to",
            {"position": [0.0, 0.3, 0.2]},
            "y = 0.300 m is outside the workspace; it must be at least 0.35",
        ),
        (
            "pick_at",
            {"point": [0.0, 0.6, -0.2]},
            "z = -0.200 m is outside the workspace; it must be at least -0.1",
        ),
        ("place_at", {"point": [0.0, 0.6, 0.6]}, "z = 0.600 m is outside"),
        ("look_from", {"point": [0.0, 0.6, 0.5]}, "point with height_m and aside_m: z = 0.700 m is outside"),
        ("nudge", {"direction": "-y", "distance_m": 0.2}, "direction -y: y = 0.300 m is outside"),
    ],
)
def test_targets_outside_the_workspace_are_refused_before_motion(
    name: str, params: dict[str, Any], words: str, arm: MotionArm
) -> None:
    with pytest.raises(MotionRefused) as refused:
        make_motion(name, params, arm).begin(state_at(0.0, 0.5, 0.2))
    assert words in str(refused.value)
    assert refused.value.check == "workspace"


def test_a_hand_that_cannot_be_turned_is_not_asked_to(arm: MotionArm) -> None:
    with pytest.raises(MotionRefused, match="yaw: this scene's actions cannot turn the hand"):
        make_motion("move_to", {**NEEDED["move_to"], "yaw": 0.5}, arm)


def test_home_needs_a_home(arm: MotionArm) -> None:
    with pytest.raises(MotionRefused, match=r"the scene has no `home`; give a position"):
        make_motion("home", {}, replace(arm, home=None))
    assert make_motion("home", {}, arm).targets[0].tolist() == list(arm.home or ())


@pytest.mark.parametrize("representation", ["joint_positions", "delta_joints_plus_gripper", "delta_ee_6d"])
def test_a_scene_of_other_actions_is_refused(representation: str) -> None:
    scene = load_scene("metaworld_drawer")
    action = scene.action.model_copy(update={"representation": representation})
    with pytest.raises(MotionRefused, match=f"this scene's actions are {representation}"):
        MotionArm.of(scene.model_copy(update={"action": action}), load_robot(scene.robot_id))


def test_typed_parameters_have_their_defaults() -> None:
    assert params_of("retract", {}).model_dump() == {
        "speed_m_s": 0.25,
        "tolerance_m": 0.01,
        "height_m": 0.1,
        "gripper": "keep",
    }
