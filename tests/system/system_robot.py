"""A deployment on an arm behind the real libfranka: the launch, its twin, and an operator who can hold to run."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Empty
from system_operator import Operator
from system_stack import Stack

sys.path.append(str(Path(__file__).parents[1] / "robot_bridge"))
from arm_scenes import read_arm_scene, write_arm_scene
from twin_process import TwinProcess

BEAT_S = 0.05


class RobotDeployment:
    """The launch on a twin of its own, with an operator who can hold to run."""

    def __init__(self, stacks: ExitStack, folder: Path, *words: str, scene: str = "fr3_tabletop") -> None:
        self.twin = TwinProcess(scene)
        stacks.callback(self.twin.close)
        self.folder = folder
        words = (f"scene:={write_scene(folder, scene)}", f"address:={self.twin.address}", *words)
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


def write_scene(folder: Path, scene: str) -> Path:
    """A scene of a real arm, with a slow start that does not take half a test."""
    content = read_arm_scene(scene)
    content["arm"]["safety"]["slow_start_s"] = 0.5
    return write_arm_scene(folder, content)
