"""The reasoner's side of `/openral/skills/<slug>/execute`: sends goals, cancels them, tells how they end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from action_msgs.srv import CancelGoal
from openral.action import ExecuteSkill
from rclpy.action import ActionClient
from rclpy.node import Node

from openral_reasoner.attempt import SendGoal

OUTCOMES: dict[int, str] = {
    getattr(ExecuteSkill.Result, name): name
    for name in ("SUCCEEDED", "FAILED", "DEADLINE", "CANCELED", "REJECTED", "ESTOPPED")
}


class SkillClients:
    """One action client for each skill that was asked so far.

    Args:
        node: owner of the clients; its executor runs the two callbacks.
        on_answer: key, goal id (hex UUID), whether the node took the goal.
        on_end: key, name of the outcome, check, message.
    """

    def __init__(
        self,
        node: Node,
        on_answer: Callable[[int, str, bool], None],
        on_end: Callable[[int, str, str, str], None],
    ) -> None:
        self._node = node
        self._on_answer = on_answer
        self._on_end = on_end
        self._clients: dict[str, ActionClient] = {}
        self._waiting: dict[int, SendGoal] = {}
        self._handles: dict[int, Any] = {}
        self._stoppers: dict[str, Any] = {}

    def send(self, command: SendGoal) -> None:
        """Send a goal as soon as its server is in the graph."""
        server = command.skill.action_server
        if server not in self._clients:
            self._clients[server] = ActionClient(self._node, ExecuteSkill, server)
        self._waiting[command.key] = command
        self.retry()

    def retry(self) -> None:
        """Look again for the servers of goals that wait; called from a timer."""
        for key, command in list(self._waiting.items()):
            client = self._clients[command.skill.action_server]
            if client.server_is_ready():
                del self._waiting[key]
                client.send_goal_async(_goal(command)).add_done_callback(partial(self._answered, key))

    def cancel(self, key: int) -> None:
        """Cancel a goal; one that was not sent yet never will be, and has ended with that."""
        if self._waiting.pop(key, None):
            self._on_end(key, "CANCELED", "not_sent", "its action server never appeared")
        elif key in self._handles:
            self._handles[key].cancel_goal_async()

    def stop(self, server: str) -> None:
        """Cancel every goal of an action server, whoever sent it; a server that is not there has none."""
        if server not in self._stoppers:
            self._stoppers[server] = self._node.create_client(CancelGoal, f"{server}/_action/cancel_goal")
        if self._stoppers[server].service_is_ready():
            self._stoppers[server].call_async(CancelGoal.Request())  # id and stamp of zero mean all goals

    def close(self) -> None:
        """Destroy all clients."""
        for stopper in self._stoppers.values():
            self._node.destroy_client(stopper)
        self._stoppers.clear()
        self._waiting.clear()
        self._handles.clear()
        for client in self._clients.values():
            client.destroy()
        self._clients.clear()

    def _answered(self, key: int, answer: Any) -> None:
        handle = answer.result()
        if handle.accepted:
            self._handles[key] = handle
            handle.get_result_async().add_done_callback(partial(self._ended, key))
        self._on_answer(key, bytes(handle.goal_id.uuid).hex(), handle.accepted)

    def _ended(self, key: int, answer: Any) -> None:
        result = answer.result().result
        self._handles.pop(key, None)
        outcome = OUTCOMES.get(result.outcome, f"outcome {result.outcome}")
        self._on_end(key, outcome, result.check, result.message)


def _goal(command: SendGoal) -> Any:
    return ExecuteSkill.Goal(
        instruction=command.instruction, task=command.task, deadline_s=command.deadline_s, params_json=""
    )
