"""A deployment on the twin of a Sawyer: disabled until it is recovered, a motion, what is disabled amid one, a stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from system_robot import SUCCEEDED, RobotDeployment

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotDeployment]:
    with ExitStack() as stacks:
        made = RobotDeployment(stacks, tmp_path_factory.mktemp("sawyer"), scene="sawyer_tabletop")
        made.hold(True)
        yield made
        made.stack.interrupt()
        assert made.stack.wait() == 0, made.stack.output


def test_an_arm_that_was_just_switched_on_is_named_and_enabled_by_the_service(deployment):
    operator = deployment.operator
    operator.until(lambda: "disabled" in operator.status[-1].stopped_by, "the arm's state in the status")
    operator.press("/openral/recover")
    operator.until(lambda: not operator.status[-1].stopped_by, "an arm that may move")


def test_a_motion_takes_the_hand_there(deployment):
    deployment.move_to(0.62, 0.1, 0.25)


def test_an_arm_that_is_disabled_in_motion_goes_on_after_the_service(deployment):
    operator = deployment.operator
    far = {"position": [0.6, -0.3, 0.3], "speed_m_s": 0.1}
    handle = operator.send_goal("motion_move_to", "", 8.0, far)
    ended = handle.get_result_async()
    operator.until_moving()
    deployment.twin.tell("disable")
    operator.until(lambda: "disabled" in operator.status[-1].stopped_by, "the arm's state in the status")
    operator.until(ended.done, "the end of the goal")
    assert ended.result().result.outcome != SUCCEEDED
    operator.press("/openral/recover")
    deployment.go_home()


def test_an_emergency_stop_in_mid_motion_brings_the_arm_to_rest(deployment):
    stopped = deployment.stop_on_the_way(0.6, -0.3, 0.3)
    assert stopped[1] > -0.25
    deployment.operator.press("/openral/estop_reset")
    deployment.go_home()
