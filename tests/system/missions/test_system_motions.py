"""Motions in a whole deployment: real bridge and motion node, ordered by goals and by a sentence.

Where nothing is picked up, the deployment is that of the drawer, between two missions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from system_files import SHARE, write_bare_scene
from system_operator import ENDED, Operator
from system_stack import Stack

SUCCEEDED, FAILED, CANCELED, REJECTED, ESTOPPED = 1, 2, 4, 5, 6
SLUGS = tuple(f"motion_{name}" for name in ("home", "move_to", "pick_at", "nudge", "look_from"))
HOME = (0.005, 0.6, 0.195)
PUCK_TASK = {"family": "metaworld", "tasks": ["pick-place-v3"], "init_id": 1003, "render_profile": "fast"}
PUCK = (-0.0435, 0.6291, 0.02)
"""[m] where initial state 1003 has it."""


def scene_of_the_puck() -> dict[str, Any]:
    camera = {"name": "corner2", "feature_key": "observation.images.camera1", "rate_hz": 20}
    size = {"observation_height": 64, "observation_width": 64}
    return {
        "id": "metaworld",
        "backend": "mujoco",
        "cameras": [camera],
        **size,
        "backend_options": PUCK_TASK,
    }


@pytest.fixture
def deployment(drawer: tuple[Stack, Operator]) -> tuple[Stack, Operator]:
    """The deployment of the drawer, in which no mission runs and the arm holds."""
    _, operator = drawer
    operator.until_active(*SLUGS)
    operator.until(lambda: operator.missions and operator.missions[-1].state in ENDED, "an earlier mission")
    operator.until(lambda: operator.status[-1].holding, "an arm at rest")
    return drawer


@pytest.fixture
def puck(tmp_path: Path) -> Iterator[tuple[Stack, Operator]]:
    """A deployment of a world with a puck, with motions and without policy or reward monitor."""
    motions = yaml.safe_load((SHARE / "scenes/deploy/metaworld_drawer.yaml").read_text())["motions"]
    scene = write_bare_scene(tmp_path, skills=None, motions=motions, scene=scene_of_the_puck())
    words = (f"scene:={scene}", f"run_dir:={tmp_path / 'run'}", "exit_when_done:=false", "mode:=realtime")
    with (
        Stack(tmp_path, "ros2", "launch", "openral", "deploy_sim.launch.py", *words) as stack,
        Operator(stack) as operator,
    ):
        operator.until_active(*SLUGS)
        yield stack, operator
        stack.interrupt()
        assert stack.wait() == 0, stack.output


def hand_of(result: Any) -> tuple[float, float, float]:
    point = result.hand.position
    return point.x, point.y, point.z


def test_motions_are_announced_with_the_schema_of_their_parameters(deployment):
    _, operator = deployment
    info = operator.skills["motion_pick_at"]
    assert (info.kind, info.leaves) == ("ros_action", "object")
    assert '"point"' in info.goal_params_schema


def test_a_motion_takes_the_hand_there_and_tells_where_it_is(deployment):
    _, operator = deployment
    result = operator.run_skill("motion_move_to", "", params={"position": [0.1, 0.7, 0.3]})()
    assert (result.outcome, result.check) == (SUCCEEDED, "motion"), result.message
    np.testing.assert_allclose(hand_of(result), (0.1, 0.7, 0.3), atol=0.012)
    assert result.steps > 10
    assert 0.09 < result.gripper_m < 0.11


@pytest.mark.parametrize(
    ("slug", "params", "check", "words"),
    [
        ("motion_move_to", {"position": [0.0, 0.6, 0.9]}, "workspace", "z = 0.900 m .* at most 0.55 m"),
        ("motion_move_to", {"position": [0.0, 0.6]}, "params", "position is .*at least 3 items"),
        ("motion_home", {"sped_m_s": 0.1}, "params", "did you mean speed_m_s"),
        ("motion_home", {"position": [0.0, 0.6, 0.2], "yaw": 1.0}, "params", "unknown 'yaw'"),
        ("motion_pick_at", {"point": [0.0, 0.6, 0.05], "yaw": 1.0}, "params", "cannot turn the hand"),
        ("motion_nudge", {"direction": "+z", "distance_m": 0.5}, "params", "at most 0.2"),
    ],
)
def test_a_goal_that_cannot_be_run_is_refused_and_nothing_moves(deployment, slug, params, check, words):
    _, operator = deployment
    operator.until(lambda: operator.status[-1].holding, "an arm at rest")
    executed = operator.status[-1].executed
    result = operator.run_skill(slug, "", params=params)()
    assert (result.outcome, result.check) == (REJECTED, check)
    assert re.search(words, result.message), result.message
    operator.assert_holding(8)
    assert operator.status[-1].executed == executed


def test_one_motion_at_a_time_and_a_canceled_one_holds(deployment):
    _, operator = deployment
    slow = {"position": [-0.2, 0.6, 0.3], "speed_m_s": 0.02}
    handle = operator.send_goal("motion_move_to", "", 0.0, slow)
    operator.until_moving()
    second = operator.run_skill("motion_home", "")()
    assert (second.outcome, second.check) == (REJECTED, "busy")
    ended = handle.get_result_async()
    canceled = handle.cancel_goal_async()
    operator.until(canceled.done, "the cancellation")
    operator.until(ended.done, "the end of the goal")
    assert ended.result().result.outcome == CANCELED
    operator.assert_holding()


@pytest.mark.slow
def test_something_is_picked_up_and_what_is_not_there_is_not(puck):
    _, operator = puck
    operator.reset("pick-place-v3", 1003)
    result = operator.run_skill("motion_pick_at", "", params={"point": list(PUCK)})()
    assert result.outcome == SUCCEEDED, result.message
    assert "they hold something" in result.message
    assert 0.035 < result.gripper_m < 0.06
    place = operator.run_skill("motion_place_at", "", params={"point": [0.1, 0.7, 0.03]})()
    assert place.outcome == SUCCEEDED, place.message
    missed = operator.run_skill("motion_pick_at", "", params={"point": [-0.2, 0.6, 0.1]})()
    assert (missed.outcome, missed.check) == (FAILED, "motion")
    assert "closed on nothing" in missed.message


def test_a_sentence_sends_the_hand_home(deployment):
    _, operator = deployment
    missions = len(operator.missions)
    operator.say("go home")
    operator.until(
        lambda: operator.missions[missions:] and operator.missions[-1].state in ENDED, "the mission"
    )
    assert operator.missions[-1].state == "done", operator.missions[-1].message
    np.testing.assert_allclose(operator.positions[-1], HOME, atol=0.012)


def test_the_emergency_stop_ends_a_motion(deployment):
    _, operator = deployment
    result = operator.run_skill("motion_move_to", "", params={"position": [0.2, 0.6, 0.3], "speed_m_s": 0.02})
    operator.until_moving()
    operator.press("/openral/estop")
    assert result().outcome == ESTOPPED
    operator.press("/openral/estop_reset")
