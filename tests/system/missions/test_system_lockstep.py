"""In lockstep the world waits for each answer: an initial state gives the same bytes, however busy the machine."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from system_files import load_truth, write_scene
from system_operator import Operator
from system_stack import Stack

SUCCEEDED, DEADLINE, STOPPED = 1, 3, 7
STEPS = 100
LEFT_OUT = dict.fromkeys(("reward_skill", "detector_skill", "playbooks", "mission"))
GOALS = (
    {"instruction": "open the drawer", "deadline_s": 2.0},
    {"instruction": "close the drawer", "deadline_s": 5.0, "max_steps": 30},
    {
        "instruction": "close the drawer",
        "deadline_s": 5.0,
        "stop_when": '[{"name": "still", "distance_m": 0.01, "duration_s": 0.2, "after_s": 0.5}]',
    },
)
WINDOW = 4
"""Control steps between two observations."""
PLACE = (0.1, 0.7, 0.3)
"""[m] where a motion takes the hand at last."""


def in_turn(operator: Operator) -> list[Any]:
    """Do all goals, then the motion; return their results."""
    results = [operator.run_skill("mini_metaworld", **fields)() for fields in GOALS]
    moved = operator.run_skill("motion_move_to", "", params={"position": list(PLACE)})()
    return [*results, moved]


@pytest.mark.long
def test_a_reset_gives_identical_joint_states_and_ends_at_the_same_observations(tmp_path):
    scene = write_scene(tmp_path, **LEFT_OUT)
    words = (f"scene:={scene}", "mode:=lockstep", f"run_dir:={tmp_path / 'run'}")
    with (
        Stack(tmp_path, "ros2", "launch", "openral", "deploy_sim.launch.py", *words) as stack,
        Operator(stack) as operator,
    ):
        operator.until_active("mini_metaworld", "motion_move_to")
        first = in_turn(operator)
        operator.reset("", -1)
        second = in_turn(operator)
        stack.interrupt()
        assert stack.wait() == 0, stack.output
    assert [result.outcome for result in first] == [DEADLINE, STOPPED, STOPPED, SUCCEEDED]
    assert [result.stopped_by for result in first] == ["", "max_steps", "still", ""]
    assert 30 <= first[1].steps < 30 + WINDOW
    assert [told(result) for result in first[:-1]] == [told(result) for result in second[:-1]]
    truth = load_truth(tmp_path / "run")
    begins = [int(np.searchsorted(truth["stamp_s"], stamp, side="right")) for stamp in truth["reset_stamp_s"]]
    assert len(begins) == 2, "as it began, and as it was reset"
    moves = [int(np.argmax(truth["goal"] == number * len(first))) for number in (1, 2)]
    one, two = (slice(begin, move) for begin, move in zip(begins, moves, strict=True))
    assert one.stop - one.start >= STEPS
    assert not truth["held"][: moves[1]].any()
    for name in ("qpos", "mocap_pos", "action", "success"):
        assert truth[name][one].tobytes() == truth[name][two].tobytes(), name
    times = [
        truth["stamp_s"][rows] - truth["reset_stamp_s"][number] for number, rows in enumerate((one, two))
    ]
    np.testing.assert_allclose(*times, rtol=0, atol=1e-6)
    check_motion(second[-1], truth)


@pytest.mark.long
def test_two_lockstep_runs_give_identical_joint_states_and_end_at_the_same_observations(tmp_path):
    scene = write_scene(tmp_path, **LEFT_OUT)
    words = ("deploy_sim.launch.py", f"scene:={scene}", "mode:=lockstep")
    with ExitStack() as stacks:  # side by side, so that each disturbs the other's timing
        folders = [tmp_path / name for name in ("one", "two")]
        runs = [
            stacks.enter_context(Stack(folder, "ros2", "launch", "openral", *words, f"run_dir:={folder}"))
            for folder in folders
        ]
        operators = [stacks.enter_context(Operator(stack)) for stack in runs]
        for operator in operators:
            operator.until_active("mini_metaworld")
        results = []
        for fields in GOALS:
            ends = [operator.run_skill("mini_metaworld", **fields) for operator in operators]
            results.append([end() for end in ends])
        moves = {"slug": "motion_move_to", "instruction": "", "params": {"position": list(PLACE)}}
        ends = [operator.run_skill(**moves) for operator in operators]
        results.append([end() for end in ends])
        for stack in runs:
            stack.interrupt()
            assert stack.wait() == 0, stack.output
    assert [result.outcome for result, _ in results] == [DEADLINE, STOPPED, STOPPED, SUCCEEDED]
    assert [result.stopped_by for result, _ in results] == ["", "max_steps", "still", ""]
    assert 30 <= results[1][0].steps < 30 + WINDOW
    for first, second in results[:-1]:
        assert told(first) == told(second)
    one, two = (load_truth(folder) for folder in folders)
    length = min(int(rows_of_last_goal(truth)[0]) for truth in (one, two))
    assert length >= STEPS
    assert not one["held"][:STEPS].any()
    for name in ("stamp_s", "qpos", "mocap_pos", "action", "held", "success"):
        assert one[name][:length].tobytes() == two[name][:length].tobytes(), name
    for motion, truth in zip(results[-1], (one, two), strict=True):
        check_motion(motion, truth)


def rows_of_last_goal(truth: dict[str, np.ndarray]) -> np.ndarray:
    """Rows of a run in which the goal that came last moved the arm."""
    return np.flatnonzero((truth["goal"] == len(truth["goals"]) - 1) & ~truth["held"])


def check_motion(result: Any, truth: dict[str, np.ndarray]) -> None:
    """See that a motion arrived, and that the world waited for each of its answers."""
    np.testing.assert_allclose(place_of(result), PLACE, atol=0.012)
    moved = rows_of_last_goal(truth)
    assert len(moved) > 50
    assert (np.diff(moved) == 1).all(), "nothing was held in between"


def place_of(result: Any) -> tuple[float, float, float]:
    hand = result.hand.position
    return hand.x, hand.y, hand.z


def told(result: Any) -> tuple[Any, ...]:
    """What a result says, less its wall times."""
    said = (result.outcome, result.check, result.stopped_by, result.message, result.steps)
    return (*said, round(result.duration_s, 6), *place_of(result), result.gripper_m)
