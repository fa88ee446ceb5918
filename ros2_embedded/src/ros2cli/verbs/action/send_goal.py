"""ros2 action send_goal."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...actions import split_actions
from ...errors import CliError
from ...interfaces import fill, load
from ...node import cli_node, full_name
from ...other_types import type_name, wait_for_server
from ...topics import write

if TYPE_CHECKING:
    from rclpy.node import Node

Gid = tuple[int, ...]
LOOK_S = 0.2
"""[s] between two looks for the action server."""
GONE_S = 3.0
"""[s] that the server may be away from the graph, as while a router is started again."""


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
            return _run(node, name, client, goal, args.feedback)
        finally:
            client.destroy()


def _run(node: Node, name: str, client: Any, goal: Any, with_feedback: bool) -> int:
    from action_msgs.msg import GoalStatus

    import rclpy
    from rosidl_runtime_py import message_to_yaml

    def show_feedback(message: Any) -> None:
        write(f"Feedback:\n    {message_to_yaml(message.feedback)}\n")

    write(f"Sending goal:\n     {message_to_yaml(goal)}\n")
    sent = client.send_goal_async(goal, feedback_callback=show_feedback if with_feedback else None)
    asked = set[Gid]()
    handle = answer_of(node, name, sent, asked)
    if not handle.accepted:
        write("Goal was rejected.\n")
        return 1
    write(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n\n")
    try:
        ended = answer_of(node, name, handle.get_result_async(), asked, handle.get_result_async)
    except KeyboardInterrupt:
        write("Canceling goal...\n")
        result = handle.get_result_async()
        rclpy.spin_until_future_complete(node, handle.cancel_goal_async(), timeout_sec=5.0)
        rclpy.spin_until_future_complete(node, result, timeout_sec=5.0)
        if not result.done():
            raise CliError("the action server did not end the goal within 5 s") from None
        ended = result.result()
    status = ended.status
    names = {value: name.removeprefix("STATUS_") for name, value in _constants(GoalStatus)}
    if status == GoalStatus.STATUS_UNKNOWN:
        raise CliError("the action server was started again, and does not know the goal")
    write(f"Result:\n    {message_to_yaml(ended.result)}\n")
    write(f"Goal finished with status: {names.get(status, str(status))}\n")
    return 0 if status == GoalStatus.STATUS_SUCCEEDED else 1


def answer_of(
    node: Node, name: str, answer: Any, asked: set[Gid], ask_again: Callable[[], Any] | None = None
) -> Any:
    """Wait for the answer of the server of an action and return it.

    Args:
        node: of the client.
        name: full name of the action.
        answer: future of the answer.
        asked: the servers that got the request, by their feedback publishers; filled where it is empty.
        ask_again: asks another server that took the place of the first; None: it could not answer.

    Raises:
        CliError: the server has left the graph.
    """
    import rclpy

    def servers() -> set[Gid]:
        found = node.get_publishers_info_by_topic(f"{name}/_action/feedback")
        return {tuple(each.endpoint_gid) for each in found}

    seen_s = time.monotonic()
    while True:
        if not asked:
            asked |= servers()
        rclpy.spin_until_future_complete(node, answer, timeout_sec=LOOK_S)
        there = servers()
        if not asked:
            asked |= there  # the graph may tell of a server later than it answers
        if answer.done():
            return answer.result()
        if asked <= there:
            seen_s = time.monotonic()
        elif there and ask_again is not None:
            asked.clear()
            asked |= there
            answer, seen_s = ask_again(), time.monotonic()
        elif time.monotonic() - seen_s > GONE_S:
            raise CliError("the action server left the graph before the goal ended")


def _constants(message_class: Any) -> list[tuple[str, int]]:
    return [(name, getattr(message_class, name)) for name in dir(message_class) if name.startswith("STATUS_")]
