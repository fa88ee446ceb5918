"""Scripted stand-ins for the reasoner's neighbours: a policy node with its bridge, and a reward monitor.

    python -m openral_reasoner.ros.fakes_node skill   --ros-args -p phrases:="['open the drawer']"
    python -m openral_reasoner.ros.fakes_node home
    python -m openral_reasoner.ros.fakes_node monitor --ros-args -p levels:="[0.3, 1.0]"

Nothing moves and nothing is learned: the skill runs every goal until it is cancelled or its deadline
passes, the motion `home` has got there after a moment, the monitor's progress rises to the level that the script gives
for this attempt.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from openral.action import ExecuteSkill
from openral.msg import ControlStatus, SkillInfo, TaskProgress
from openral.srv import QueryTaskProgress
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from openral_core.graph.namespaces import DEFAULT_NAMESPACE, graph_name, policy_namespace
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.process.stop_signals import StopSignals
from openral_core.ros.qos import SKILLS
from openral_reasoner.palette import MOTION

PERIOD_S = 0.05
MOTION_S = 0.2
"""[s] that a motion takes."""
HEARTBEAT_S = 1.0
"""[s] between two announcements of a skill."""


class FakeSkillServer(GuardedCallbacks, Node):
    """A policy node and its bridge in one: announces a skill, runs its goals, says which goal is active.

    Parameters: `phrases` (one for each task; the task ids are the phrases with dashes), `max_execution_s`
    [s], `tag` (embodiment).
    """

    def __init__(self, slug: str = "fake", *, moves: bool = False, **kwargs: Any) -> None:
        """Begin to announce it.

        Args:
            slug: of the skill.
            moves: it is a motion without tasks, which succeeds after `MOTION_S`.
            **kwargs: of the node.
        """
        super().__init__(slug.replace("-", "_"), namespace=policy_namespace(DEFAULT_NAMESPACE), **kwargs)
        self.declare_parameter("phrases", ["open the drawer", "close the drawer"])
        self.declare_parameter("max_execution_s", 6.0)
        self.declare_parameter("tag", "any")
        self._moves = moves
        self._active: tuple[str, str] = ("", "")
        space = self.get_namespace()
        name = graph_name(space, f"skills/{slug.replace('-', '_')}/execute")
        self._info = self.create_publisher(SkillInfo, graph_name(space, "skills"), SKILLS)
        self._status = self.create_publisher(ControlStatus, graph_name(space, "control_status"), 10)
        self._server = ActionServer(
            self,
            ExecuteSkill,
            name,
            execute_callback=self._execute,
            goal_callback=lambda request: GoalResponse.ACCEPT,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        if not moves:
            self.create_timer(PERIOD_S, self._report)
        self._announced = (slug, name)
        self.create_timer(HEARTBEAT_S, self._announce)
        self._announce()

    def _announce(self) -> None:
        slug, server = self._announced
        phrases = [] if self._moves else list(self.get_parameter("phrases").value)
        info = SkillInfo(
            name=f"openral/rskill-{slug}",
            slug=slug.replace("-", "_"),
            kind=MOTION if self._moves else "vla",
            license="apache-2.0",
            commercial_use=True,
            embodiment_tags=[self.get_parameter("tag").value],
            tasks=[phrase.replace(" ", "-") for phrase in phrases],
            examples=phrases,
            node=self.get_fully_qualified_name(),
            action_server=server,
            state="active",
            active=True,
            max_execution_s=self.get_parameter("max_execution_s").value,
            goal_id=self._active[0],
        )
        self._info.publish(info)

    def _report(self) -> None:
        goal_id, instruction = self._active
        status = ControlStatus(
            active_goal=goal_id, instruction=instruction, mode="realtime", control_hz=1 / PERIOD_S
        )
        status.header.stamp = self.get_clock().now().to_msg()
        self._status.publish(status)

    def _execute(self, goal: Any) -> Any:
        mine = self._active = (bytes(goal.goal_id.uuid).hex(), goal.request.instruction)
        self._announce()
        begin = time.monotonic()
        result = ExecuteSkill.Result(gripper_m=-1.0)  # nobody knows where a hand is that there is not
        while True:
            time.sleep(PERIOD_S)
            result.duration_s = time.monotonic() - begin
            if self._moves and result.duration_s >= MOTION_S:
                goal.succeed()
                result.outcome, result.check = ExecuteSkill.Result.SUCCEEDED, "motion"
                break
            if goal.is_cancel_requested:
                goal.canceled()
                result.outcome, result.check = ExecuteSkill.Result.CANCELED, "client_cancel"
                break
            if result.duration_s >= goal.request.deadline_s:
                goal.abort()
                result.outcome, result.check = ExecuteSkill.Result.DEADLINE, "deadline"
                break
        if self._active == mine:  # else the next goal has begun in another thread
            self._active = ("", "")
        self._announce()
        return result


class FakeMonitor(GuardedCallbacks, Node):
    """A reward monitor whose progress rises over `rise_s` [s] to `levels[attempt]`.

    The last level serves all later attempts. Asked, it tells the newest value, whatever the words are.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("reward_monitor", namespace=DEFAULT_NAMESPACE, **kwargs)
        self.declare_parameter("levels", [1.0])
        self.declare_parameter("rise_s", 0.5)
        self._goal = ""
        self._begin = 0.0
        self._attempt = -1
        self._value: float | None = None
        self._publisher = self.create_publisher(TaskProgress, "progress", 10)
        self.create_subscription(ControlStatus, "control_status", self._on_status, 10)
        self.create_service(QueryTaskProgress, "perception/query_task_progress", self._on_query)

    def _on_query(self, request: Any, response: Any) -> Any:
        response.ok = self._value is not None
        response.message = "" if response.ok else "no attempt has been seen yet"
        response.progress_now = response.success_now = self._value or 0.0
        return response

    def _on_status(self, status: ControlStatus) -> None:
        if not status.active_goal:
            return
        if status.active_goal != self._goal:
            self._goal = status.active_goal
            self._begin = time.monotonic()
            self._attempt += 1
        levels = self.get_parameter("levels").value
        share = min(1.0, (time.monotonic() - self._begin) / self.get_parameter("rise_s").value)
        self._value = value = share * levels[min(self._attempt, len(levels) - 1)]
        reading = TaskProgress(
            goal_id=self._goal, task=status.instruction, progress=value, success=value, threshold=0.8
        )
        reading.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(reading)


def main() -> None:
    """Run one of the three until the process is told to end."""
    kinds: dict[str, Callable[[], Node]] = {
        "skill": FakeSkillServer,
        "home": lambda: FakeSkillServer("motion-home", moves=True),
        "monitor": FakeMonitor,
    }
    if len(sys.argv) < 2 or sys.argv[1] not in kinds:
        raise SystemExit(f"usage: fakes_node ({' | '.join(kinds)}) [--ros-args …]")
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    executor = MultiThreadedExecutor(3)
    node = kinds[sys.argv[1]]()
    executor.add_node(node)
    try:
        with StopSignals() as signals:
            signals.spin(executor, Future())
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
