"""The reasoner's side of `skills/<slug>/execute`: sends goals, cancels them, and reports how they end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from action_msgs.srv import CancelGoal
from openral.action import ExecuteSkill
from rclpy.action import ActionClient, get_action_names_and_types
from rclpy.node import Node

from openral_core.cli.printable import plain_line
from openral_core.stop_conditions import stop_when_text
from openral_reasoner.mission.attempt import SendGoal
from openral_reasoner.mission.goal_report import GoalReport

OUTCOMES: dict[int, str] = {
    getattr(ExecuteSkill.Result, name): name
    for name in ("SUCCEEDED", "FAILED", "DEADLINE", "CANCELED", "REJECTED", "ESTOPPED", "STOPPED")
}
"""Names of the outcomes of ExecuteSkill.Result."""
STOP_PATIENCE_S = 2.0
"""[s] wall time that an action server has to answer a stop; until it has, no goal is sent to it."""
MAX_STOPPERS = 128
"""Action servers whose cancellation client is kept after a stop, the newest ones."""
MAX_CHECK = 64
"""Characters of the name of the check that ended a goal."""
EXECUTE_SKILL = "openral/action/ExecuteSkill"
MAX_SERVERS = 64
"""Actions that were not announced to which a stop is sent, at most."""
Guard = Callable[[Callable[..., Any], str], Callable[..., Any]]
"""(callback, what it serves) -> a callback that logs what the first one raises; see `GuardedCallbacks.guard`."""


def skill_actions(node: Node) -> list[str]:
    """Return the actions of skills in the graph that lie in the namespace of a node, announced or not."""
    below = f"{node.get_namespace()}/skills/"
    found = (name for name, kinds in get_action_names_and_types(node) if EXECUTE_SKILL in kinds)
    return [name for name in found if name.startswith(below)][:MAX_SERVERS]


@dataclass
class _Stop:
    """A cancellation of all goals of one server that was not yet answered."""

    until_wall_s: float
    answer: Any = None
    """Future of the answer; None: the server was not there yet."""


class SkillClients:
    """An action client for each skill that was sent a goal so far. Not thread-safe."""

    def __init__(
        self,
        node: Node,
        guard: Guard,
        on_answer: Callable[[int, str, bool], None],
        on_end: Callable[[int, GoalReport], None],
    ) -> None:
        """Begin without clients.

        Args:
            node: owner of the clients, whose executor runs the callbacks.
            guard: of the node.
            on_answer: called with a goal's key, its hex UUID, and whether the policy node accepted it.
            on_end: called with a goal's key and how it ended.
        """
        self._node, self._guard = node, guard
        self._on_answer = on_answer
        self._on_end = on_end
        self._clients: dict[str, ActionClient] = {}
        self._waiting: dict[int, SendGoal] = {}
        self._handles: dict[int, Any] = {}
        self._stoppers: dict[str, Any] = {}
        self._stops: dict[str, _Stop] = {}

    def send(self, command: SendGoal) -> None:
        """Send a goal as soon as its action server is in the graph."""
        server = command.skill.action_server
        if server not in self._clients:
            self._clients[server] = ActionClient(self._node, ExecuteSkill, server)
        self._waiting[command.key] = command
        self.retry()

    def retry(self) -> None:
        """Send the goals and stops that wait to servers that have appeared; called from a timer."""
        for server in list(self._stops):
            self._try_stop(server)
        for key, command in list(self._waiting.items()):
            server = command.skill.action_server
            # All goals of that server are being cancelled: one that came now could be hit, too.
            if server not in self._stops and self._clients[server].server_is_ready():
                del self._waiting[key]
                answer = self._clients[server].send_goal_async(goal_of_command(command))
                answer.add_done_callback(self._guard(partial(self._answered, key), f"an answer of {server}"))

    def cancel(self, key: int) -> None:
        """Cancel a goal; one that was not sent yet is dropped, and reported as ended."""
        if self._waiting.pop(key, None):
            self._on_end(key, GoalReport("CANCELED", "not_sent", "its action server never appeared"))
        elif key in self._handles:
            self._handles[key].cancel_goal_async()

    def stop(self, server: str) -> None:
        """Cancel every goal of an action server, whoever sent it, if it is in the graph within `STOP_PATIENCE_S`."""
        if server not in self._stoppers:
            if len(self._stoppers) >= MAX_STOPPERS:
                self._drop_stopper(next(iter(self._stoppers)))
            self._stoppers[server] = self._node.create_client(CancelGoal, f"{server}/_action/cancel_goal")
        if server in self._stops:
            self._forget_stop(server)
        self._stops[server] = _Stop(time.monotonic() + STOP_PATIENCE_S)
        self._try_stop(server)

    def _try_stop(self, server: str) -> None:
        stop = self._stops[server]
        if time.monotonic() > stop.until_wall_s or (stop.answer is not None and stop.answer.done()):
            self._forget_stop(server)
        elif stop.answer is None and self._stoppers[server].service_is_ready():
            # Id and stamp of zero mean all goals. A stamp of now would spare later ones, but the clocks of two nodes
            # need not agree, and a stop must not depend on that.
            stop.answer = self._stoppers[server].call_async(CancelGoal.Request())

    def _drop_stopper(self, server: str) -> None:
        if server in self._stops:
            self._forget_stop(server)
        self._node.destroy_client(self._stoppers.pop(server))

    def _forget_stop(self, server: str) -> None:
        stop = self._stops.pop(server)
        if stop.answer is not None and not stop.answer.done():
            self._stoppers[server].remove_pending_request(stop.answer)

    def close(self) -> None:
        """Destroy all clients."""
        for stopper in self._stoppers.values():
            self._node.destroy_client(stopper)
        self._stoppers.clear()
        self._stops.clear()
        self._waiting.clear()
        self._handles.clear()
        for client in self._clients.values():
            client.destroy()
        self._clients.clear()

    def _answered(self, key: int, answer: Any) -> None:
        handle = answer.result()
        if handle.accepted:
            self._handles[key] = handle
            ended = self._guard(partial(self._ended, key), "the end of a goal")
            handle.get_result_async().add_done_callback(ended)
        self._on_answer(key, bytes(handle.goal_id.uuid).hex(), handle.accepted)

    def _ended(self, key: int, answer: Any) -> None:
        result = answer.result().result
        self._handles.pop(key, None)
        self._on_end(key, report_of(result))


def report_of(result: Any) -> GoalReport:
    """Return how a goal ended, from an ExecuteSkill.Result: texts as printable lines, numbers only if finite."""
    position = result.hand.position
    hand = (position.x, position.y, position.z)
    known = 0.0 <= result.gripper_m < math.inf
    return GoalReport(
        outcome=OUTCOMES.get(result.outcome, f"outcome {result.outcome}"),
        check=plain_line(result.check, MAX_CHECK),
        message=plain_line(result.message),
        stopped_by=plain_line(result.stopped_by, MAX_CHECK),
        steps=int(result.steps),
        hand=hand if known and all(map(math.isfinite, hand)) else None,
        gripper_m=result.gripper_m if known else None,
    )


def goal_of_command(command: SendGoal) -> Any:
    """Return the ExecuteSkill.Goal that a command sends."""
    return ExecuteSkill.Goal(
        instruction=command.instruction,
        task=command.task,
        deadline_s=command.deadline_s,
        params_json=command.params_json,
        stop_when=stop_when_text(command.stop_when),
        max_steps=command.max_steps,
    )
