"""ros2 action send_goal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ...actions import split_actions
from ...errors import CliError
from ...interfaces import fill, load
from ...node import cli_node, full_name
from ...other_types import type_name, wait_for_server
from ...topics import write

if TYPE_CHECKING:
    from rclpy.node import Node


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("action_name", help="name of the action")
    parser.add_argument("action_type", help="its type, such as example_interfaces/action/Fibonacci")
    parser.add_argument("goal", help="the goal as YAML, such as '{order: 5}'")
    parser.add_argument("-f", "--feedback", action="store_true", help="print the feedback")
    parser.add_argument(
        "-t", "--timeout", type=float, metavar="S", help="give up waiting for the server after so long"
    )


def main(args: argparse.Namespace) -> int:
    """Send a goal, wait for its result; Ctrl-C cancels the goal. The exit code is 0 only if the goal
    succeeded."""
    action_type = load("action", args.action_type)
    goal = fill(action_type.Goal(), args.goal)
    with cli_node() as node:
        from rclpy.action import ActionClient

        name = full_name(args.action_name)
        client = ActionClient(node, action_type, name)
        wanted = type_name("action", action_type)
        try:
            write("Waiting for an action server to become available...\n")
            if not wait_for_server(
                name,
                wanted,
                client.wait_for_server,
                args.timeout,
                lambda: split_actions(node.get_service_names_and_types()),
            ):
                raise CliError(f"no action server '{name}' within {args.timeout:g} s")
            return _run(node, client, goal, args.feedback)
        finally:
            client.destroy()


def _run(node: Node, client: Any, goal: Any, with_feedback: bool) -> int:
    from action_msgs.msg import GoalStatus

    import rclpy
    from rosidl_runtime_py import message_to_yaml

    def show_feedback(message: Any) -> None:
        write(f"Feedback:\n    {message_to_yaml(message.feedback)}\n")

    write(f"Sending goal:\n     {message_to_yaml(goal)}\n")
    sent = client.send_goal_async(goal, feedback_callback=show_feedback if with_feedback else None)
    rclpy.spin_until_future_complete(node, sent)
    handle = sent.result()
    if not handle.accepted:
        write("Goal was rejected.\n")
        return 1
    write(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n\n")
    result = handle.get_result_async()
    try:
        rclpy.spin_until_future_complete(node, result)
    except KeyboardInterrupt:
        write("Canceling goal...\n")
        rclpy.spin_until_future_complete(node, handle.cancel_goal_async(), timeout_sec=5.0)
        rclpy.spin_until_future_complete(node, result, timeout_sec=5.0)
        if not result.done():
            raise CliError("the action server did not end the goal within 5 s") from None
    status = result.result().status
    names = {value: name.removeprefix("STATUS_") for name, value in _constants(GoalStatus)}
    write(f"Result:\n    {message_to_yaml(result.result().result)}\n")
    write(f"Goal finished with status: {names.get(status, str(status))}\n")
    return 0 if status == GoalStatus.STATUS_SUCCEEDED else 1


def _constants(message_class: Any) -> list[tuple[str, int]]:
    return [(name, getattr(message_class, name)) for name in dir(message_class) if name.startswith("STATUS_")]
