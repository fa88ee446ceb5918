"""The emergency stop of several deployments of one domain: how they are found, and the calls that stop them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from rclpy.context import Context
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name
from std_srvs.srv import Trigger

from openral_console.live.views import StopAnswer
from openral_core.cli.printable import plain_line

PAUSE_S = 0.02
"""[s] between two checks for answers, if another thread spins the node."""
ANSWER_S = 3.0
"""[s] of wall time that a bridge has for its answer, or as long as is searched, if that is longer."""
AGAIN_S = 0.5
"""[s] after which a call without an answer is made again; each pause is twice as long as the one before it."""
KNOWN_S = 0.5
"""[s] of wall time to find a service that the graph has shown before."""
REST = 4.0
"""Time between two looks at the graph, in the time that a look takes."""
MAX_DEPLOYMENTS = 256
"""Most deployments that are received from, and that are stopped where none is named."""
_STOP, _TRIGGER = "/estop", "std_srvs/srv/Trigger"
"""Name and type of the service by which a deployment is found; its bridge offers it as long as it runs."""


def see_bridges_only(context: Context) -> None:
    """Have a session that is not open yet take in no more of the graph than what deployments are found by.

    With a hundred robots the whole graph takes a newcomer ten seconds of a core and more, for which calls wait
    (docs/fleet.md). A real ROS 2 always takes in the whole.
    """
    context.servers_only = (_STOP, _TRIGGER)


def deployments_in(node: Node) -> list[str]:
    """Return the namespaces of the deployments that a node sees in the graph now, sorted; `MAX_DEPLOYMENTS` at most."""
    return _all_deployments_in(node)[:MAX_DEPLOYMENTS]


def _all_deployments_in(node: Node) -> list[str]:
    """Return the namespaces of all deployments in the graph, sorted.

    Any program may announce any name. One that ROS does not allow is left out: no call can be made to it, and the
    attempt would keep the others from being stopped.
    """
    services = node.get_service_names_and_types()
    found = [
        name.removesuffix(_STOP)
        for name, kinds in services
        if name.endswith(_STOP) and _TRIGGER in kinds and is_ros_name(name)
    ]
    return sorted(name for name in found if name)


def is_ros_name(name: str) -> bool:
    """Return whether a fully qualified name in the graph is one that ROS allows for a topic or a service."""
    try:
        validate_full_topic_name(name)
    except InvalidTopicNameException:
        return False
    return True


class Search:
    """Looks for deployments again and again, and leaves most of the time to what arrives meanwhile.

    A look reads the whole graph: with a hundred robots that takes 50 ms, in which no message is received.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._found: list[str] = []
        self._next_s = 0.0

    def __call__(self) -> list[str]:
        """Return the namespaces of the deployments that the last look found; look again if it is time."""
        begun = time.monotonic()
        if begun >= self._next_s:
            self._found = deployments_in(self._node)
            ended = time.monotonic()
            self._next_s = ended + REST * (ended - begun)
        return self._found


def stop_deployments(
    node: Node, namespaces: Sequence[str], search_s: float, wait: Callable[[], object]
) -> list[StopAnswer]:
    """Latch the emergency stop of deployments, each as soon as it is found.

    Args:
        node: makes the calls.
        namespaces: whose; empty: all that are found.
        search_s: [s] wall time to look for them. Those that were named are waited for no longer than they need.
        wait: lets answers come in for a moment: it spins the node, or sleeps where another thread does.
    """
    begun, search = time.monotonic(), Search(node)
    calls = {namespace: _StopCall(node, namespace) for namespace in namespaces}
    try:
        while True:
            if not namespaces:
                for namespace in search():
                    if namespace not in calls:
                        calls[namespace] = _StopCall(node, namespace)
            wait()
            now = time.monotonic()
            searching = now - begun < search_s
            open_ = [call for call in calls.values() if not call.look(now, searching=searching)]
            if not open_ and (namespaces or not searching):
                answers = [calls[namespace].answer for namespace in sorted(calls)]
                return answers if namespaces else [*answers, *_not_called(node, calls)]
    finally:
        for call in calls.values():
            call.close()


def _not_called(node: Node, called: Collection[str]) -> list[StopAnswer]:
    """Return what is said of the deployments that are too many to be called; nothing where all were."""
    left = [name for name in _all_deployments_in(node) if name not in called]
    if not left or len(called) < MAX_DEPLOYMENTS:
        return []
    fault = f"not called, since no more than {MAX_DEPLOYMENTS} are at once; name them"
    return [StopAnswer(f"{len(left)} more, from {left[0]} on", fault, math.nan)]


class StopAll:
    """Stops every deployment of a domain, for a node that another thread spins."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __call__(self) -> str:
        """Return who is not known to be stopped, and why; empty: all say that they are.

        The node's own deployment is among those that are asked, whether it is found or not.
        """
        own = self._node.get_namespace()
        names = {own, *deployments_in(self._node)}
        answers = stop_deployments(self._node, sorted(names), KNOWN_S, lambda: time.sleep(PAUSE_S))
        answers += _not_called(self._node, names)
        return "; ".join(f"{answer.namespace}: {answer.fault}" for answer in answers if answer.fault)


class _StopCall:
    """The call of one emergency stop, which is made again until it is answered.

    A request may find no way to its server, where the graph shows the server before the links lead to it; then
    nobody answers.
    """

    def __init__(self, node: Node, namespace: str) -> None:
        self._node = node
        self._client = node.create_client(Trigger, f"{namespace}{_STOP}")
        self._sent: list[tuple[float, Any]] = []
        """When [s], and the future of the answer."""
        self._answered = False
        self.answer = StopAnswer(namespace, "no bridge was found there", math.nan)

    def close(self) -> None:
        """Drop the pending calls; requests that were sent are not withdrawn."""
        self._node.destroy_client(self._client)

    def look(self, now_s: float, *, searching: bool) -> bool:
        """Call the service once it is there; return whether it has answered, or is not waited for any longer."""
        if self._answered:
            return True
        name = self.answer.namespace
        for _, future in self._sent:
            if future.done():
                self.answer = StopAnswer(name, _fault_of(future), now_s - self._sent[0][0])
                self._answered = True
                return True
        again = not self._sent or now_s - self._sent[-1][0] >= AGAIN_S * 2 ** (len(self._sent) - 1)
        if again and self._client.service_is_ready():
            self._sent.append((now_s, self._client.call_async(Trigger.Request())))
        if not self._sent:
            return not searching
        waited_s = now_s - self._sent[0][0]
        self.answer = StopAnswer(name, f"its bridge did not answer within {waited_s:.0f} s", math.nan)
        return waited_s > ANSWER_S and not searching


def _fault_of(future: Any) -> str:
    """Return why an answer confirms no stop; empty: it does."""
    if future.exception() is not None:
        return f"its answer cannot be read: {plain_line(str(future.exception()))}"
    said = future.result()
    return "" if said is not None and said.success else f"refused: {plain_line(getattr(said, 'message', ''))}"
