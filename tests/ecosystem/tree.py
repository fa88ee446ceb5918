"""A behaviour tree that sends a goal to a skill of openral, in the way of py_trees_ros.

    python tree.py motion_home

It asks the graph for the action through `ros2action.api`, sends the goal with an action client of the node that the
tree has, and ticks from a timer of that node.
"""

from __future__ import annotations

import sys
from typing import Any

import py_trees
import rclpy
from action_msgs.msg import GoalStatus
from openral.action import ExecuteSkill
from rclpy.action import ActionClient
from rclpy.node import Node
from ros2action.api import get_action_names_and_types
from ros2cli.helpers import wait_for

PERIOD_S = 0.05


class RunSkill(py_trees.behaviour.Behaviour):
    """Is running while the skill is, then says what became of it."""

    def __init__(self, name: str, action: str) -> None:
        """Name the action."""
        super().__init__(name)
        self.action = action
        self.client: ActionClient | None = None
        self.result: Any = None

    def setup(self, **kwargs: Any) -> None:
        """Find the action; `node` is among the arguments, as in py_trees_ros."""
        node: Node = kwargs["node"]
        if not wait_for(lambda: self.action in dict(get_action_names_and_types(node=node)), timeout=20.0):
            raise RuntimeError(f"nobody serves {self.action}")
        self.client = ActionClient(node, ExecuteSkill, self.action)
        if not self.client.wait_for_server(timeout_sec=20.0):
            raise RuntimeError(f"{self.action} does not answer")

    def initialise(self) -> None:
        """Send the goal."""
        assert self.client is not None
        self.result = None
        self.sent = self.client.send_goal_async(ExecuteSkill.Goal(instruction="go home", deadline_s=10.0))
        self.sent.add_done_callback(self._accepted)

    def _accepted(self, future: Any) -> None:
        self.result = future.result().get_result_async()

    def update(self) -> py_trees.common.Status:
        """Look at the result."""
        if self.result is None or not self.result.done():
            return py_trees.common.Status.RUNNING
        response = self.result.result()
        self.feedback_message = f"outcome {response.result.outcome}"
        succeeded = response.status == GoalStatus.STATUS_SUCCEEDED
        return py_trees.common.Status.SUCCESS if succeeded else py_trees.common.Status.FAILURE

    def shutdown(self) -> None:
        """Let the client go."""
        if self.client is not None:
            self.client.destroy()


def main(slug: str) -> int:
    """Tick a sequence of the skill twice and a success; returns 0 when the tree succeeds."""
    rclpy.init()
    node = Node("tree")
    skills = [RunSkill(f"run {number}", f"/openral/skills/{slug}/execute") for number in (1, 2)]
    root = py_trees.composites.Sequence("mission", memory=True, children=skills)
    tree = py_trees.trees.BehaviourTree(root)
    tree.setup(timeout=None, node=node)
    node.create_timer(PERIOD_S, tree.tick)
    while root.status not in (py_trees.common.Status.SUCCESS, py_trees.common.Status.FAILURE):
        rclpy.spin_once(node)
    sys.stdout.write(py_trees.display.ascii_tree(root, show_status=True))
    tree.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    return 0 if root.status is py_trees.common.Status.SUCCESS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
