"""Scripted operator of trials: sends goals and hold-to-run messages, and sets and resets the emergency stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from openral.action import ExecuteSkill
from openral.msg import ControlStatus, SkillInfo
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from openral_core.errors import OpenralError
from openral_core.graph.namespaces import DEFAULT_NAMESPACE
from openral_core.ros.qos import SKILLS

BEAT_S = 0.05
"""[s] between two hold-to-run messages."""
ANSWER_S = 30.0
"""[s] timeout of a service or an action server."""
GONE_S = 3.0
"""[s] that the policy node may be away from the graph in mid-goal, as while a router is started again."""
POLL_S = 0.05
"""[s] between two checks of the goal and the task."""
OUTCOMES = {
    getattr(ExecuteSkill.Result, name): name
    for name in ("SUCCEEDED", "FAILED", "DEADLINE", "CANCELED", "REJECTED", "ESTOPPED", "STOPPED")
}


@dataclass(frozen=True)
class TriedGoal:
    """End of a goal: the result of the action ExecuteSkill, and the time [s] that it took."""

    outcome: str
    check: str
    steps: int
    wall_s: float
    latency_p50_s: float
    latency_p95_s: float


class TrialOperator:
    """A ROS node beside a deployment, in threads of its own, to be used as a context manager."""

    def __init__(self, slug: str, is_alive: Callable[[], bool]) -> None:
        """Join the graph.

        Args:
            slug: of the skill.
            is_alive: returns whether the deployment still runs.
        """
        self._slug, self._is_alive = slug, is_alive
        self._active = False
        self._behind = 0.0
        self.stopped_by = ""
        """Reason why the arm does not move, by the bridge's last status; empty: there is none."""
        self.estopped = False
        """Whether the emergency stop is latched, by the bridge's last status."""
        self._context = rclpy.Context()
        self._context.init()
        self._node = rclpy.create_node("trial_operator", namespace=DEFAULT_NAMESPACE, context=self._context)
        self._goals = ActionClient(self._node, ExecuteSkill, f"skills/{slug}/execute")
        self._triggers = {
            name: self._node.create_client(Trigger, name) for name in ("estop", "recover", "estop_reset")
        }
        self._beats = self._node.create_publisher(Empty, "hold_to_run", 1)
        self._node.create_subscription(SkillInfo, "skills", self._on_skill, SKILLS)
        self._node.create_subscription(ControlStatus, "control_status", self._on_status, 10)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._executor.spin, self._beat)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> TrialOperator:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._executor.shutdown()
        for thread in self._threads:
            thread.join(2.0)
        self._node.destroy_node()
        self._context.try_shutdown()

    def until_ready(self, patience_s: float) -> None:
        """Wait until the skill accepts goals.

        Raises:
            OpenralError: it does not within `patience_s` [s].
        """
        self._until(lambda: self._active and self._goals.server_is_ready(), f"skill {self._slug}", patience_s)

    def stop(self) -> None:
        """Set the emergency stop, and wait until the bridge reports that it is latched."""
        self._press("estop")
        self._until(lambda: self.estopped, "the emergency stop", ANSWER_S)

    def recover(self) -> None:
        """Recover the arm from a reflex, and wait until its motion has ended."""
        self._press("recover")

    def release(self) -> None:
        """Reset the emergency stop, and wait until the bridge reports that it is no longer latched."""
        self._press("estop_reset")
        self._until(lambda: not self.estopped, "the end of the emergency stop", ANSWER_S)

    def take_behind(self) -> float:
        """Return the largest tracking error [rad] of a joint since the last call."""
        behind, self._behind = self._behind, 0.0
        return behind

    def run(
        self, instruction: str, deadline_s: float, max_steps: int, is_done: Callable[[], bool]
    ) -> TriedGoal:
        """Run the skill until it ends, or cancel it as soon as the task is done.

        Args:
            instruction: for the policy.
            deadline_s: [s] deadline of the goal.
            max_steps: largest number of control steps.
            is_done: returns whether the task is done; called every POLL_S.

        Raises:
            OpenralError: the goal was not accepted, or the policy node or the deployment has ended.
        """
        goal = ExecuteSkill.Goal(instruction=instruction, deadline_s=deadline_s, max_steps=max_steps)
        began = time.monotonic()
        handle = self._answer(self._goals.send_goal_async(goal), "an answer to the goal")
        if not handle.accepted:
            raise OpenralError(f"{self._slug} refused the goal; see the deployment's log")
        result, servers, seen_s = handle.get_result_async(), self._servers(), time.monotonic()
        while not result.done() and not is_done():
            if not self._is_alive():
                raise OpenralError("the deployment has ended; see its log")
            # A node that was started again has the same names, and does not know the goal. The graph may tell of a
            # node later than it answers.
            there = self._servers()
            servers = servers or there
            if servers & there or not servers:
                seen_s = time.monotonic()
            elif time.monotonic() - seen_s > GONE_S:
                raise OpenralError(
                    f"the policy node of {self._slug} ended in mid-goal; see the deployment's log"
                )
            time.sleep(POLL_S)
        if not result.done():
            handle.cancel_goal_async()
        ended = self._answer(result, "the end of the goal").result
        return TriedGoal(
            OUTCOMES.get(ended.outcome, str(ended.outcome)),
            ended.check,
            int(ended.steps),
            time.monotonic() - began,
            ended.latency_p50_s,
            ended.latency_p95_s,
        )

    def _servers(self) -> set[tuple[int, ...]]:
        """Return the ids, in the graph, of what serves the skill's action."""
        found = self._node.get_publishers_info_by_topic(f"skills/{self._slug}/execute/_action/feedback")
        return {tuple(each.endpoint_gid) for each in found}

    def _press(self, name: str) -> None:
        client = self._triggers[name]
        self._until(client.service_is_ready, f"the service {name}", ANSWER_S)
        answer = self._answer(client.call_async(Trigger.Request()), f"an answer of {name}")
        if not answer.success:
            raise OpenralError(f"{name}: {answer.message}")

    def _answer(self, future: Any, what: str) -> Any:
        self._until(future.done, what, ANSWER_S)
        return future.result()

    def _until(self, holds: Callable[[], object], what: str, patience_s: float) -> None:
        due = time.monotonic() + patience_s
        while not holds():
            if not self._is_alive():
                raise OpenralError(f"the deployment ended before {what} was there; see its log")
            if time.monotonic() > due:
                raise OpenralError(f"waited {patience_s:g} s in vain for {what}; see the deployment's log")
            time.sleep(0.02)

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            self._beats.publish(Empty())

    def _on_skill(self, message: Any) -> None:
        if message.slug == self._slug:
            self._active = bool(message.active)

    def _on_status(self, message: Any) -> None:
        self.stopped_by, self.estopped = str(message.stopped_by), bool(message.estopped)

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == f"{DEFAULT_NAMESPACE.strip('/')}/robot_bridge: control":
                values = {pair.key: pair.value for pair in status.values}
                self._behind = max(self._behind, float(values.get("behind_rad", 0.0)))
