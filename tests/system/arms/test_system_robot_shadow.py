"""A deployment in shadow mode on an arm behind the real libfranka: nothing is sent; and one whose driver is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from system_robot import SUCCEEDED, RobotDeployment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shadow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotDeployment]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    with ExitStack() as stacks:
        yield RobotDeployment(stacks, tmp_path_factory.mktemp("shadow"), "shadow:=true")


def test_in_shadow_mode_nothing_is_sent(shadow):
    shadow.hold(True)
    before = shadow.until_still()
    result = shadow.operator.run_skill("motion_move_to", "", 2.0, {"position": [0.55, 0.1, 0.25]})()
    assert result.outcome != SUCCEEDED
    assert shadow.operator.status[-1].executed > 0
    assert np.abs(shadow.until_still() - before).max() < 1e-3
    shadow.operator.until(lambda: shadow.diagnosed("shadow") == "true", "the diagnosis")


def test_without_its_driver_the_deployment_ends_and_says_why(shadow):
    children = shadow.stack.node("robot_bridge").children()
    [driver] = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    driver.kill()
    shadow.stack.wait()
    assert "the driver's process has ended (-9); the arm is held by its own controller" in shadow.stack.output
