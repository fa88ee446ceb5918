"""A deployment on an arm behind the real libfranka: motions, the operator's sign of life, emergency stop, reflex."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from system_robot import SUCCEEDED, RobotDeployment


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotDeployment]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    with ExitStack() as stacks:
        made = RobotDeployment(stacks, tmp_path_factory.mktemp("robot"))
        yield made
        made.stack.interrupt()
        assert made.stack.wait() == 0, made.stack.output


def test_without_the_operators_sign_of_life_nothing_moves(deployment):
    operator, before = deployment.operator, deployment.until_still()
    deployment.hold(False)
    goal = {"position": [0.55, 0.1, 0.25]}
    result = operator.run_skill("motion_move_to", "", 1.5, goal)()
    assert result.outcome != SUCCEEDED, result.message
    assert np.abs(deployment.until_still() - before).max() < 2e-3
    assert operator.status[-1].executed == 0 < operator.status[-1].held
    assert any(status.stopped_by == "hold to run" for status in operator.status)
    operator.until(lambda: deployment.diagnosed("stopped_by") == "hold to run", "the diagnosis")


def test_a_motion_takes_the_hand_there(deployment):
    deployment.hold(True)
    deployment.move_to(0.55, 0.1, 0.25)


def test_an_emergency_stop_in_mid_motion_brings_the_arm_to_rest(deployment):
    operator = deployment.operator
    deployment.hold(True)
    stopped = deployment.stop_on_the_way(0.5, -0.3, 0.3)
    assert stopped[1] > -0.25
    operator.until(lambda: operator.status[-1].stopped_by == "emergency stop", "its name in the status")
    refused = operator.run_skill("motion_home", "")()
    assert refused.check == "estop"
    assert np.abs(deployment.until_still() - stopped).max() < 1e-3
    operator.press("/openral/estop_reset")
    deployment.go_home()


def test_a_reflex_is_told_by_name_and_left_by_the_service(deployment):
    operator = deployment.operator
    deployment.hold(True)
    handle = operator.send_goal("motion_move_to", "", 8.0, {"position": [0.5, 0.3, 0.3], "speed_m_s": 0.1})
    ended = handle.get_result_async()
    operator.until_moving()
    deployment.twin.tell("fail joint_reflex")
    operator.until(lambda: "joint_reflex" in operator.status[-1].stopped_by, "the reflex in the status")
    operator.until(ended.done, "the end of the goal")
    assert ended.result().result.outcome != SUCCEEDED
    operator.press("/openral/recover")
    deployment.go_home()


def test_stamps_are_wall_time_and_there_is_no_clock(deployment):
    operator = deployment.operator
    seen = len(operator.status)
    operator.until(lambda: len(operator.status) > seen, "a status")
    stamp = operator.status[-1].header.stamp
    assert abs(time.time() - stamp.sec) < 2.0
    assert not deployment.clocks
