"""A small server of the rosbridge protocol: as much of it as the tests use, by the calls that rosbridge makes.

    python bridge.py          # prints its port

Stands for rosbridge_server, which is on no package index. Message classes come by their names, dictionaries become
messages and messages dictionaries through `rosidl_runtime_py`.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import rclpy
from autobahn.twisted.websocket import WebSocketServerFactory, WebSocketServerProtocol
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from ros2service.api import get_service_class
from ros2topic.api import get_topic_names_and_types
from rosidl_runtime_py import message_to_ordereddict, set_message_fields
from rosidl_runtime_py.utilities import get_message
from twisted.internet import reactor

loop: Any = reactor


class Bridge(WebSocketServerProtocol):  # type: ignore[misc]
    """One client."""

    node: Node

    def onConnect(self, request: Any) -> None:
        """Begin without publishers and subscriptions."""
        self.publishers: dict[str, Any] = {}
        self.subscriptions: dict[str, Any] = {}

    def onMessage(self, payload: bytes, is_binary: bool) -> None:
        """Do what a client asks for; operations that tests do not use are ignored."""
        command = json.loads(payload)
        handler = getattr(self, f"do_{command['op']}", None)
        if handler is not None:
            handler(command)

    def say(self, answer: dict[str, Any]) -> None:
        """Send an answer, from any thread."""
        loop.callFromThread(self.sendMessage, json.dumps(answer).encode())

    def do_advertise(self, command: dict[str, Any]) -> None:
        """Make a publisher."""
        kind = get_message(command["type"])
        self.publishers[command["topic"]] = self.node.create_publisher(kind, command["topic"], 10)

    def do_publish(self, command: dict[str, Any]) -> None:
        """Publish a message."""
        publisher = self.publishers[command["topic"]]
        message = publisher.msg_type()
        set_message_fields(message, command["msg"])
        publisher.publish(message)

    def do_subscribe(self, command: dict[str, Any]) -> None:
        """Make a subscription; the type is the graph's when none is given."""
        topic = command["topic"]
        known = dict(get_topic_names_and_types(node=self.node))
        kind = get_message(command.get("type") or known[topic][0])

        def pass_on(message: Any) -> None:
            self.say({"op": "publish", "topic": topic, "msg": message_to_ordereddict(message)})

        self.subscriptions[topic] = self.node.create_subscription(kind, topic, pass_on, 10)

    def do_call_service(self, command: dict[str, Any]) -> None:
        """Call a service of the graph, and answer when it has."""
        kind = get_service_class(self.node, command["service"])
        client = self.node.create_client(kind, command["service"])
        request = kind.Request()
        set_message_fields(request, command.get("args") or {})

        def answer(future: Any) -> None:
            values = message_to_ordereddict(future.result())
            name, identity = command["service"], command.get("id")
            self.say(
                {"op": "service_response", "service": name, "id": identity, "result": True, "values": values}
            )

        client.wait_for_service(timeout_sec=20.0)
        client.call_async(request).add_done_callback(answer)


def spin(node: Node) -> None:
    """Spin in a thread until the end."""
    try:
        rclpy.spin(node)
    except ExternalShutdownException:
        return


def main() -> None:
    """Serve on a free port of this machine."""
    rclpy.init()
    Bridge.node = Node("bridge")
    threading.Thread(target=spin, args=(Bridge.node,), daemon=True).start()
    factory = WebSocketServerFactory()
    factory.protocol = Bridge
    port = loop.listenTCP(0, factory, interface="127.0.0.1")
    sys.stdout.write(f"{port.getHost().port}\n")
    loop.run()


if __name__ == "__main__":
    main()
