"""An agent's node outside the reasoner: takes the table of tools, calls them, and waits for their ends."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

import rclpy
from openral.action import CallTool
from openral.msg import ToolTable
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from openral_core.graph.namespaces import DEFAULT_NAMESPACE, namespace_option, ros_arguments
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.ros.qos import LATCHED
from openral_reasoner.mission.agent_requests import Reply
from openral_reasoner.ros.skill_client import SkillClients, skill_actions
from openral_reasoner.ros.tool_server import ACTION, TOPIC
from openral_reasoner.tools.offered_tools import CallProgress, OfferedTool
from openral_reasoner.tools.table import STOP

LOOK_S = 0.25
"""[s] wall time between two looks at a call that is under way."""
TELL_S = 5.0
"""[s] wall time without news after which a client is told that the call goes on."""
STOP_PATIENCE_S = 2.0
"""[s] wall time that a reasoner has to answer a stop, before the goals of all skills are cancelled from here."""
FIND_S = 3.0
"""[s] wall time in which a reasoner that runs is found, before the user is told that there is none."""


class _ToolNode(GuardedCallbacks, Node):
    """The node of one process; its name says whose session it is. Process numbers are not unique among containers."""

    def __init__(self) -> None:
        super().__init__(f"agent_{uuid4().hex[:12]}", namespace=DEFAULT_NAMESPACE)


class ToolClient:
    """A `ToolSource` over the graph. Use it as an asynchronous context manager, in the loop of the server."""

    def __init__(
        self, *, approve_each: bool, patience_s: float, say: Callable[[str], None], namespace: str
    ) -> None:
        """Join the graph; the node is made when the context is entered.

        Args:
            approve_each: the operator is asked before each motion.
            patience_s: [s] wall time to wait for a reasoner and its first skill.
            say: tells the user, who sees no replies, whether there is a reasoner.
            namespace: of the deployment.
        """
        self._namespace, self._say = namespace, say
        self._nobody = (
            f"no reasoner answers in the namespace {namespace}; start a deployment, with "
            f"`openral deploy sim{namespace_option(namespace)}` or ros2 launch"
        )
        self._approve_each, self._patience_s = approve_each, patience_s
        self._tools: tuple[OfferedTool, ...] = ()
        self.on_change: Callable[[], None] = _nothing
        self._loop: asyncio.AbstractEventLoop
        self._node: _ToolNode
        self._client: Any
        self._looking: asyncio.Task[None]
        self._executor: SingleThreadedExecutor
        self._thread: threading.Thread
        # Here, where no server runs yet whose tasks would wrap what the environment is refused with.
        rclpy.init(args=ros_arguments(namespace), signal_handler_options=SignalHandlerOptions.NO)

    async def __aenter__(self) -> ToolClient:
        self._loop = asyncio.get_running_loop()
        self._node = node = _ToolNode()
        node.create_subscription(ToolTable, TOPIC, self._on_table, LATCHED)
        self._client = ActionClient(node, CallTool, ACTION)
        self._stopper = SkillClients(node, node.guard, lambda *_: None, lambda *_: None)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="ros", daemon=True)
        self._thread.start()
        self._looking = self._loop.create_task(self._tell_whether_somebody_is_there())
        return self

    @property
    def session(self) -> str:
        """Fully qualified name of its node, by which a reasoner tells its mission from that of another agent."""
        return str(self._node.get_fully_qualified_name())

    async def __aexit__(self, *error: object) -> None:
        self._looking.cancel()
        self._executor.shutdown()
        self._thread.join(timeout=2.0)
        self._node.destroy_node()
        rclpy.try_shutdown()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return

    async def _tell_whether_somebody_is_there(self) -> None:
        if await self._until(self._client.server_is_ready, FIND_S):
            return
        self._say(f"{self._nobody}; it is found whenever it comes")
        while not await self._until(self._client.server_is_ready, FIND_S):
            pass
        self._say(f"the reasoner in {self._namespace} is there now")

    # -- the table ---------------------------------------------------------------------------------

    def _on_table(self, table: Any) -> None:
        tools = tuple(_offered(tool) for tool in table.tools)
        self._loop.call_soon_threadsafe(self._take, tools)

    def _take(self, tools: tuple[OfferedTool, ...]) -> None:
        if tools != self._tools:
            self._tools = tools
            self.on_change()

    async def tools(self) -> Sequence[OfferedTool]:
        """Return the newest table; wait a little for one that has a skill in it."""
        await self._until(lambda: any(tool.moves for tool in self._tools), self._patience_s)
        return self._tools

    async def _until(self, condition: Callable[[], object], patience_s: float) -> bool:
        end = self._loop.time() + patience_s
        while not condition():
            if self._loop.time() > end:
                return False
            await asyncio.sleep(0.05)
        return True

    # -- calls -------------------------------------------------------------------------------------

    async def call(self, who: str, tool: str, arguments: Mapping[str, Any], progress: CallProgress) -> Reply:
        """Call a tool and wait for its end; `ToolSource`. A stop needs no reasoner."""
        if tool != STOP:
            return await self._call(who, tool, arguments, progress)
        try:
            reply = await asyncio.wait_for(self._call(who, tool, arguments, progress), STOP_PATIENCE_S)
        except asyncio.TimeoutError:
            return await self._stop_directly()
        return reply if reply.ok else await self._stop_directly()

    async def _call(self, who: str, tool: str, arguments: Mapping[str, Any], progress: CallProgress) -> Reply:
        if not await self._until(self._client.server_is_ready, self._patience_s):
            return Reply(False, self._nobody)
        goal = CallTool.Goal(
            session=self.session,
            who=who,
            approve_each=self._approve_each,
            tool=tool,
            arguments_json=json.dumps(arguments),
        )
        words: asyncio.Queue[str] = asyncio.Queue()
        accepted = self._in_loop(
            self._client.send_goal_async(
                goal,
                feedback_callback=lambda message: self._loop.call_soon_threadsafe(
                    words.put_nowait, _words(message.feedback)
                ),
            )
        )
        try:
            handle = await self._wait(accepted, words, progress)
            if handle is None or not handle.accepted:
                return Reply(
                    False,
                    self._nobody if handle is None else "refused: too many calls are open; wait for one",
                )
            ended = await self._wait(self._in_loop(handle.get_result_async()), words, progress)
        except asyncio.CancelledError:
            accepted.add_done_callback(_cancel)
            raise
        if ended is None:
            return Reply(False, "the reasoner went away during the call; `state` says what the bridge does")
        return Reply(ended.result.ok, ended.result.text, bytes(ended.result.image_png))

    def _in_loop(self, future: Any) -> asyncio.Future[Any]:
        """Return a future of the loop that ends with one of the graph."""
        mirrored: asyncio.Future[Any] = self._loop.create_future()

        def take() -> None:
            if not mirrored.done():
                mirrored.set_result(future.result())

        future.add_done_callback(lambda _: self._loop.call_soon_threadsafe(take))
        return mirrored

    async def _wait(
        self, future: asyncio.Future[Any], words: asyncio.Queue[str], progress: CallProgress
    ) -> Any:
        """Return the value of a future, and pass news on meanwhile; None: the reasoner is gone."""
        told_s = seen_s = self._loop.time()
        newest = "the call goes on"
        while not future.done():
            await asyncio.wait({future}, timeout=LOOK_S)
            now_s = self._loop.time()
            seen_s = now_s if self._client.server_is_ready() else seen_s
            if now_s - seen_s > self._patience_s:
                return None
            news = [words.get_nowait() for _ in range(words.qsize())]
            if news or now_s - told_s > TELL_S:
                told_s, newest = now_s, news[-1] if news else newest
                await progress(newest)
        return future.result()

    async def _stop_directly(self) -> Reply:
        """Cancel the goals of all skills without a reasoner."""
        found = skill_actions(self._node)
        for server in found:
            self._stopper.stop(server)
        end = self._loop.time() + STOP_PATIENCE_S
        while self._loop.time() < end:
            await asyncio.sleep(0.1)
            self._stopper.retry()
        return Reply(bool(found), f"no reasoner answered; {len(found)} skills were told to stop from here")


def _nothing() -> None:
    """Nobody wants to know yet."""


def _cancel(accepted: asyncio.Future[Any]) -> None:
    handle = None if accepted.cancelled() else accepted.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()


def _offered(tool: Any) -> OfferedTool:
    return OfferedTool(tool.name, tool.description, json.loads(tool.schema), tool.moves, tool.reads)


def _words(feedback: Any) -> str:
    share = f" (progress {feedback.progress:.2f})" if feedback.progress >= 0 else ""
    return f"{feedback.message}{share}"
