"""What ends a goal by its conditions or its budget: the count of steps, the command to the fingers, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from openral_core.progress_judgement import ProgressReading
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.stop_conditions import parse_stop_when
from openral_core.types import RobotState
from openral_policy_nodes.executed_steps import StepCount
from openral_policy_nodes.goal_request import GoalRefused, GoalRequest, parse_goal
from openral_policy_nodes.goal_supervisor import BridgeStatus, GoalOutcome
from openral_policy_nodes.inference import PolicyChunk
from openral_policy_nodes.stopping import GoalStops, Stopping

DT_NS = 12_500_000
DT_S = DT_NS * 1e-9


def status(executed: int, stamp_s: float, goal: str = "me", *, holding: bool = False) -> BridgeStatus:
    return BridgeStatus(goal, executed, "", 0, "", holding=holding, stamp_s=stamp_s)


def begin(scene, text: str = "", max_steps: int = 0, monitors: int = 1, begun_ns: int = 0) -> GoalStops:
    request = GoalRequest("pick it up", 10.0, {}, parse_stop_when(text), max_steps)
    return Stopping(scene, load_robot(scene.robot_id)).begin(request, begun_ns, monitors)


def state(height_m: float = 0.2, opening_m: float = 0.045) -> RobotState:
    hand = np.array([0.0, 0.6, height_m])
    return RobotState(0.0, (), np.zeros(0), hand, np.array([0.0, 0.0, 0.0, 1.0]), opening_m)


def chunk(stamp_ns: int, *gripper: float) -> PolicyChunk:
    data = np.zeros((len(gripper), 4), np.float32)
    data[:, 3] = gripper
    return PolicyChunk("me", "", 0, stamp_ns, "world", data, 0.0)


def test_steps_are_those_that_the_bridge_executed_for_this_goal():
    count = StepCount("me", DT_S)
    count.on_status(status(904, 1.0, "other"))
    assert count.at(1.0, None, lockstep=False) == 0
    count.on_status(status(904, 2.0, holding=True))  # comes with the first chunk
    assert count.at(2.1, 1.95, lockstep=False) == 8
    count.on_status(status(920, 2.2))
    assert count.at(2.2, 1.95, lockstep=False) == 16
    assert count.at(2.25, 1.95, lockstep=False) == 20
    count.on_status(status(930, 2.4, holding=True))
    assert count.at(3.0, 1.95, lockstep=False) == 26
    count.on_status(status(999, 3.2, "next"))
    assert count.at(9.0, 1.95, lockstep=False) == 26


def test_an_arm_that_its_own_checks_keep_still_executes_nothing_between_two_statuses():
    count = StepCount("me", DT_S)
    count.on_status(replace(status(904, 2.0), stopped_by="hold to run"))
    assert count.at(2.15, 1.95, lockstep=False) == 0
    count.on_status(status(910, 2.2))
    count.on_status(replace(status(914, 2.4), stopped_by="hold to run"))
    assert count.at(2.55, 1.95, lockstep=False) == 10


def test_no_more_steps_are_counted_than_there_was_time_for():
    count = StepCount("me", DT_S)
    count.on_status(status(100, 0.0))
    count.on_status(status(200, 0.0))
    assert count.at(2.1, 2.0, lockstep=False) == 8
    assert count.at(2.1, None, lockstep=False) == 0


def test_a_bridge_that_was_restarted_counts_from_zero_and_the_goal_goes_on():
    count = StepCount("me", DT_S)
    count.on_status(status(500, 10.0))
    count.on_status(status(520, 10.25))
    count.on_status(status(0, 12.0, ""))
    assert count.at(12.0, 10.0, lockstep=False) == 20
    count.on_status(status(3, 12.5, holding=True))
    assert count.at(12.5, 10.0, lockstep=False) == 23
    count.on_status(status(8, 12.75, holding=True))
    assert count.at(12.75, 10.0, lockstep=False) == 28


def test_in_lockstep_the_count_is_that_of_the_observations_whenever_a_status_comes():
    told, untold = StepCount("me", DT_S), StepCount("me", DT_S)
    told.on_status(status(100, 5.0))
    told.on_status(status(102, 5.05))
    for stamp_s in (5.0, 5.05, 5.1):
        assert told.at(stamp_s, 5.0, lockstep=True) == untold.at(stamp_s, 5.0, lockstep=True)
    assert told.at(5.1, 5.0, lockstep=True) == 8


def test_a_budget_ends_the_goal_at_the_first_observation_that_reaches_it(scene):
    stops = begin(scene, max_steps=10)
    assert stops.look(0, state(), None, 0) is None
    assert stops.look(1, state(), None, 9) is None
    end = stops.look(2, state(), None, 12)
    assert end is not None
    assert (end.outcome, end.check, end.stopped_by) == (GoalOutcome.STOPPED, "max_steps", "max_steps")
    assert begin(scene).look(2, state(), None, 10**6) is None


def test_the_fingers_are_told_what_the_row_before_the_observation_says(scene):
    """Closed from row 4 on: observed behind row 3 they are not yet, behind row 4 they are, and behind the last, too."""
    text = '[{"name": "gripper_closed", "duration_s": 0.05}]'
    rows = chunk(0, *[-1.0] * 4, *[1.0] * 4)
    for first, fires in ((0, False), (4, False), (5, True), (40, True)):
        stops = begin(scene, text)
        ends = [stops.look(DT_NS * (first + i) + 1, _at(first + i), rows, 0) for i in range(0, 5, 4)]
        assert (ends[-1] is not None) == fires, first


def _at(step: int) -> RobotState:
    still = state()
    return RobotState(step * DT_S, (), np.zeros(0), still.ee_position, still.ee_quaternion, 0.045)


def test_an_observation_from_before_the_goal_does_not_count(scene):
    stops = begin(scene, '[{"name": "reached", "position": [0, 0.6, 0.2]}]', begun_ns=7)
    assert stops.look(6, state(), None, 0) is None
    assert stops.look(7, state(), None, 0) is not None


def test_an_observation_counts_once(scene):
    stops = begin(scene, '[{"name": "reached", "position": [0, 0.6, 0.2]}]')
    end = stops.look(7, state(), None, 0)
    assert end is not None
    assert (end.check, end.stopped_by) == ("stop_when", "reached")
    assert stops.look(7, state(), None, 0) is None


def test_done_goes_by_the_readings_of_this_goal(scene):
    stops = begin(scene, '[{"name": "done", "readings": 2}]')
    for stamp_s in (1.0, 1.3):
        assert stops.look(round(stamp_s * 1e9), state(), None, 0) is None
        stops.reading(ProgressReading(stamp_s, 0.95, 0.95))
    end = stops.look(2_000_000_000, state(), None, 0)
    assert end is not None
    assert end.stopped_by == "done"


def test_what_cannot_hold_here_is_refused_before_motion(scene):
    with pytest.raises(GoalRefused, match="no reward monitor publishes"):
        begin(scene, '[{"name": "done"}]', monitors=0)
    gone = scene.model_copy(update={"reward_skill": "nobody/has-this"})
    with pytest.raises(GoalRefused, match="reward skill is unknown"):
        begin(gone, '[{"name": "done"}]')
    joints = scene.action.model_copy(update={"representation": "joint_positions"})
    without = scene.model_copy(update={"action": joints})
    for name in ("lifted", "gripper_closed"):
        with pytest.raises(GoalRefused, match=name) as refused:
            begin(without, f'[{{"name": "{name}"}}]')
        assert refused.value.check == "stop_when"
    assert begin(without, '[{"name": "gripper_closed", "opening_m": 0.05}, {"name": "still"}]')


def test_the_fields_of_a_goal_become_its_conditions(make_skill):
    manifest = make_skill().manifest
    request = parse_goal(manifest, "x", "", 0.0, "", 45.0, '[{"name": "lifted", "height_m": 0.1}]', 84)
    assert [condition.name for condition in request.stop_when] == ["lifted"]
    assert request.max_steps == 84
    with pytest.raises(GoalRefused, match="hover is no condition") as refused:
        parse_goal(manifest, "x", "", 0.0, "", 45.0, '[{"name": "hover"}]')
    assert refused.value.check == "stop_when"


def test_the_fingers_of_metaworlds_sawyer_do_not_close_to_zero():
    fingers = load_robot(load_scene("metaworld_drawer").robot_id).end_effectors[0]
    assert fingers.min_opening_m == 0.03
