"""A deployment on an arm behind the real libfranka: motions, the operator's sign of life, emergency stop, reflex."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Empty
from system_files import SHARE
from system_operator import Operator
from system_stack import Stack

sys.path.append(str(Path(__file__).parents[1] / "robot_bridge"))
from twin_process import TwinProcess

SUCCEEDED, FAILED, ESTOPPED = 1, 2, 6
BEAT_S = 0.05


class Deployment:
    """The launch on a twin of its own, with an operator who can hold to run."""

    def __init__(self, stacks: ExitStack, folder: Path, *words: str) -> None:
        self.twin = TwinProcess()
        stacks.callback(self.twin.close)
        self.folder = folder
        words = (f"scene:={write_scene(folder)}", f"address:={self.twin.address}", *words)
        words = (*words, f"run_dir:={folder / 'run'}", "exit_when_done:=false")
        self.stack = stacks.enter_context(
            Stack(folder, "ros2", "launch", "openral", "deploy_robot.launch.py", *words)
        )
        self.operator = stacks.enter_context(Operator(self.stack))
        self.clocks: list[Any] = []
        self.health: list[Any] = []
        self.operator.subscribe(Clock, "/clock", self.clocks.append, 10)
        self.operator.subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._held = threading.Event()
        self._over = threading.Event()
        self._context = rclpy.Context()
        self._context.init(domain_id=self.stack.domain)
        self._node = rclpy.create_node("hand_on_the_button", context=self._context)
        self._beats = self._node.create_publisher(Empty, "/openral/hold_to_run", 1)
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()
        stacks.callback(self._end)
        self.operator.until_active("motion_home", "motion_move_to")

    def hold(self, on: bool) -> None:
        """Hold the button, or let it go."""
        self._held.set() if on else self._held.clear()

    def hand(self) -> np.ndarray:
        """(3,) [m] where the hand was last."""
        self.operator.until(lambda: self.operator.positions, "the hand's pose")
        return np.array(self.operator.positions[-1])

    def until_still(self) -> np.ndarray:
        """Wait until the hand rests, and return where, (3,) [m]."""

        def still() -> bool:
            last = np.array(list(self.operator.positions)[-10:])
            return len(last) == 10 and bool(np.ptp(last, axis=0).max() < 5e-4)

        self.operator.positions.clear()
        self.operator.until(still, "a hand at rest")
        return self.hand()

    def diagnosed(self, key: str) -> str:
        """The newest value of `/diagnostics`."""
        values = {pair.key: pair.value for pair in self.health[-1].values} if self.health else {}
        return str(values.get(key, ""))

    def _on_diagnostics(self, message: Any) -> None:
        self.health += [each for each in message.status if each.name == "openral/robot_bridge: control"]

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            if self._held.is_set():
                self._beats.publish(Empty())

    def _end(self) -> None:
        self._over.set()
        self._thread.join()
        self._node.destroy_node()
        self._context.try_shutdown()


def write_scene(folder: Path) -> Path:
    """The scene of the FR3, with a slow start that does not take half a test."""
    content = yaml.safe_load((SHARE / "scenes/robot/fr3_tabletop.yaml").read_text())
    options = content["scene"]["backend_options"]
    options["model"] = str((SHARE / "scenes/robot" / options["model"]).resolve())
    content["arm"]["safety"]["slow_start_s"] = 0.5
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    with ExitStack() as stacks:
        made = Deployment(stacks, tmp_path_factory.mktemp("robot"))
        yield made
        made.stack.interrupt()
        assert made.stack.wait() == 0, made.stack.output


def test_without_the_operators_sign_of_life_nothing_moves(deployment):
    operator, before = deployment.operator, deployment.until_still()
    deployment.hold(False)
    goal = {"position": [0.55, 0.1, 0.25]}
    result = operator.run_skill("motion_move_to", "", 4.0, goal)()
    assert result.outcome != SUCCEEDED, result.message
    assert np.abs(deployment.until_still() - before).max() < 2e-3
    assert operator.status[-1].executed > 0
    assert any(status.stopped_by == "hold to run" for status in operator.status)
    operator.until(lambda: deployment.diagnosed("stopped_by") == "hold to run", "the diagnosis")


def test_a_motion_takes_the_hand_there(deployment):
    deployment.hold(True)
    goal = (0.55, 0.1, 0.25)
    result = deployment.operator.run_skill("motion_move_to", "", params={"position": list(goal)})()
    assert result.outcome == SUCCEEDED, result.message
    np.testing.assert_allclose(deployment.hand(), goal, atol=0.015)


def test_an_emergency_stop_in_mid_motion_brings_the_arm_to_rest(deployment):
    operator = deployment.operator
    deployment.hold(True)
    far = {"position": [0.5, -0.3, 0.3], "speed_m_s": 0.1}
    handle = operator.send_goal("motion_move_to", "", 0.0, far)
    ended = handle.get_result_async()
    before = deployment.hand()
    operator.until(lambda: np.abs(deployment.hand() - before).max() > 0.02, "motion")
    operator.press("/openral/estop")
    operator.until(ended.done, "the end of the goal")
    assert ended.result().result.outcome == ESTOPPED
    stopped = deployment.until_still()
    assert stopped[1] > -0.25
    operator.until(lambda: operator.status[-1].stopped_by == "emergency stop", "its name in the status")
    refused = operator.run_skill("motion_home", "")()
    assert refused.check == "estop"
    assert np.abs(deployment.until_still() - stopped).max() < 1e-3
    operator.press("/openral/estop_reset")
    result = operator.run_skill("motion_home", "")()
    assert result.outcome == SUCCEEDED, result.message


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
    result = operator.run_skill("motion_home", "")()
    assert result.outcome == SUCCEEDED, result.message


def test_stamps_are_wall_time_and_there_is_no_clock(deployment):
    operator = deployment.operator
    seen = len(operator.status)
    operator.until(lambda: len(operator.status) > seen, "a status")
    stamp = operator.status[-1].header.stamp
    assert abs(time.time() - stamp.sec) < 2.0
    assert not deployment.clocks


@pytest.fixture(scope="module")
def shadow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    with ExitStack() as stacks:
        yield Deployment(stacks, tmp_path_factory.mktemp("shadow"), "shadow:=true")


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
