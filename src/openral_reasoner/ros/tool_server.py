"""The tools for agents outside the reasoner: the action `tools/call`, and the table on the latched topic `tools`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from openral.action import CallTool
from openral.msg import Tool as ToolMessage
from openral.msg import ToolTable
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.lifecycle import LifecycleNode
from rclpy.task import Future

from openral_core.errors import ContractError
from openral_core.instant import Instant
from openral_core.message_field_checks import text_field
from openral_core.ros.qos import LATCHED
from openral_reasoner.mission.agent_requests import Reply
from openral_reasoner.mission.attempt import Command
from openral_reasoner.tools.outside_calls import Call, OutsideCalls
from openral_reasoner.tools.table import STOP
from openral_reasoner.tools.tool import MAX_ARGUMENTS, Tool

TOPIC, ACTION = "tools", "tools/call"
MAX_OPEN = 16
"""Calls that may wait for their answers at the same time; a stop is one more."""
MAX_TEXT = 256
"""Characters of the names in a call."""
SEEN_WITHIN_S = 5.0
"""[s] wall time after its first call in which a session's node must appear in the graph."""


class _OpenCall:
    """A call that was not answered yet."""

    def __init__(self, handle: Any, call: Call) -> None:
        self.handle, self.call = handle, call
        self.answered: Any = Future()
        self.broken_off = False
        self.last_progress: tuple[float, str] | None = None

    def answer(self, reply: Reply) -> None:
        """End the call; the first answer counts."""
        if not self.answered.done():
            self.answered.set_result(reply)


class ToolServer:
    """Serves calls in the callbacks of a node; call `tick` often."""

    def __init__(
        self,
        node: LifecycleNode,
        calls: OutsideCalls,
        table: Callable[[], tuple[Tool, ...]],
        run: Callable[[list[Command]], None],
        now: Callable[[], Instant],
    ) -> None:
        """Offer the action and publish the table.

        Args:
            node: the owner.
            calls: decides about each call.
            table: the tools as they are now; another tuple when they changed.
            run: carries commands out.
            now: this moment.
        """
        self._node, self._calls, self._table, self._run, self._now = node, calls, table, run, now
        self._open: list[_OpenCall] = []
        self._since_wall_s: dict[str, float] = {}
        self._seen: set[str] = set()
        self._shown: tuple[Tool, ...] | None = None
        self._publisher = node.create_publisher(ToolTable, TOPIC, LATCHED)
        self._server = ActionServer(
            node,
            CallTool,
            ACTION,
            execute_callback=self._serve,
            goal_callback=lambda request: (
                GoalResponse.ACCEPT if may_open(request.tool, len(self._open)) else GoalResponse.REJECT
            ),
            cancel_callback=self._on_cancel,
        )

    def close(self) -> None:
        """Answer what waits, and take the action and the topic out of the graph."""
        for open_ in self._open:
            open_.answer(Reply(False, "the reasoner ends"))
        self._server.destroy()
        self._node.destroy_publisher(self._publisher)

    def tick(self) -> None:
        """Show the table if it changed, tell how far open calls are, and notice sessions that went away."""
        self._show()
        now = self._now()
        self._run(self._calls.tick(now))
        self._look_for_lost_sessions(now)
        for open_ in self._open:
            if open_.broken_off:
                open_.answer(Reply(False, "the call was broken off"))
            self._tell_progress(open_)

    def _show(self) -> None:
        table = self._table()
        if table is not self._shown:
            self._shown = table
            self._publisher.publish(ToolTable(tools=[tool_message(tool) for tool in table]))

    def _look_for_lost_sessions(self, now: Instant) -> None:
        if not self._since_wall_s:
            return
        present = {
            f"{space.rstrip('/')}/{name}" for name, space in self._node.get_node_names_and_namespaces()
        }
        for session, since_wall_s in list(self._since_wall_s.items()):
            if session in present:
                self._seen.add(session)
            elif session in self._seen or now.wall_s - since_wall_s > SEEN_WITHIN_S:
                del self._since_wall_s[session]
                self._seen.discard(session)
                self._run(self._calls.gone(session, now))

    def _tell_progress(self, open_: _OpenCall) -> None:
        progress = self._calls.progress(open_.call.session)
        if progress is not None and progress != open_.last_progress and open_.handle.is_active:
            open_.last_progress = progress
            open_.handle.publish_feedback(CallTool.Feedback(progress=progress[0], message=progress[1]))

    def _on_cancel(self, handle: Any) -> Any:
        for open_ in self._open:
            if open_.handle is handle or bytes(open_.handle.goal_id.uuid) == bytes(handle.goal_id.uuid):
                open_.broken_off = (
                    True  # the goal ends at the next tick, when its handle knows of the cancellation
                )
                self._run(self._calls.broken_off(open_.call, self._now()))
        return CancelResponse.ACCEPT

    async def _serve(self, handle: Any) -> Any:
        try:
            call = call_of(handle.request)
        except ContractError as error:
            handle.abort()
            return CallTool.Result(ok=False, text=f"refused: {error}")
        open_ = _OpenCall(handle, call)
        self._open.append(open_)
        self._since_wall_s.setdefault(call.session, self._now().wall_s)
        try:
            self._run(self._calls.call(call, open_.answer, self._now()))
            reply = await open_.answered
        finally:
            self._open.remove(open_)
        if handle.is_cancel_requested:
            handle.canceled()
        elif reply.ok:
            handle.succeed()
        else:
            handle.abort()
        return CallTool.Result(ok=reply.ok, text=reply.text, image_png=reply.image_png)


def tool_message(tool: Tool) -> ToolMessage:
    """Return a tool as it is published."""
    return ToolMessage(
        name=tool.name,
        description=tool.description,
        schema=json.dumps(tool.schema),
        moves=tool.moves,
        reads=tool.reads,
    )


def may_open(tool: str, open_calls: int) -> bool:
    """Whether a call is taken while so many others wait for their answers; a stop always is."""
    return tool == STOP or open_calls < MAX_OPEN


def call_of(goal: Any) -> Call:
    """Return a call from the goal of the action.

    Raises:
        ContractError: a field is too long or holds control characters; the text names it.
    """
    if len(goal.arguments_json) > MAX_ARGUMENTS and goal.tool != STOP:
        raise ContractError(
            f"arguments_json has {len(goal.arguments_json)} characters; send at most {MAX_ARGUMENTS}"
        )
    return Call(
        session=text_field("session", goal.session, MAX_TEXT),
        who=text_field("who", goal.who, MAX_TEXT),
        approve_each=bool(goal.approve_each),
        tool=text_field("tool", goal.tool, MAX_TEXT),
        arguments=goal.arguments_json,
    )
