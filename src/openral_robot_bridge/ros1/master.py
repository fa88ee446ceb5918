"""A minimal ROS 1 master: it tells subscribers the publishers of their topics, and stores parameters.

It implements the methods for topics and plain parameters. A robot has a master of its own, and a `roscore` (Debian)
can replace this one.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from openral_robot_bridge.ros1.messages import Ros1Error
from openral_robot_bridge.ros1.rpc import FAILURE, SUCCESS, RpcServer, call

Answer = tuple[int, str, Any]


class Ros1Master:
    """Serves until closed; any host that reaches its port has full access."""

    def __init__(self, host: str, port: int) -> None:
        """Listen on an address of this machine.

        Raises:
            OSError: the port is taken, or the address is not of this machine.
        """
        self._parameters: dict[str, Any] = {}
        self._types: dict[str, str] = {}
        self._nodes: dict[str, str] = {}
        self._publishers: dict[str, dict[str, str]] = defaultdict(dict)
        """topic -> node -> URI of the node."""
        self._subscribers: dict[str, dict[str, str]] = defaultdict(dict)
        self._lock = threading.Lock()
        self._tellers = ThreadPoolExecutor(4, "master")
        self._server = RpcServer(host, port, self._methods())
        self.uri = self._server.uri
        """URI of the master."""

    def close(self) -> None:
        """Close the port; connections between nodes continue."""
        self._server.close()
        self._tellers.shutdown(cancel_futures=True)

    def _methods(self) -> dict[str, Callable[..., Answer]]:
        return {
            "registerPublisher": self._register_publisher,
            "unregisterPublisher": self._unregister_publisher,
            "registerSubscriber": self._register_subscriber,
            "unregisterSubscriber": self._unregister_subscriber,
            "lookupNode": self._look_up,
            "getPid": lambda caller: (SUCCESS, "", os.getpid()),
            "getUri": lambda caller: (SUCCESS, "", self.uri),
            "getTopicTypes": lambda caller: (SUCCESS, "", [list(pair) for pair in self._types.items()]),
            "getPublishedTopics": self._published,
            "getSystemState": self._state,
            "getParam": self._parameter,
            "hasParam": lambda caller, name: (SUCCESS, "", _absolute(name) in self._parameters),
            "setParam": self._set_parameter,
        }

    def _register_publisher(self, caller: str, topic: str, type_name: str, uri: str) -> Answer:
        with self._lock:
            self._note(caller, topic, type_name, uri)
            self._publishers[topic][caller] = uri
            subscribers = list(self._subscribers[topic].values())
        self._tell(topic)
        return SUCCESS, "", subscribers

    def _unregister_publisher(self, caller: str, topic: str, uri: str) -> Answer:
        with self._lock:
            gone = self._publishers[topic].pop(caller, None)
        self._tell(topic)
        return SUCCESS, "", int(gone is not None)

    def _register_subscriber(self, caller: str, topic: str, type_name: str, uri: str) -> Answer:
        with self._lock:
            self._note(caller, topic, type_name, uri)
            self._subscribers[topic][caller] = uri
            return SUCCESS, "", list(self._publishers[topic].values())

    def _unregister_subscriber(self, caller: str, topic: str, uri: str) -> Answer:
        with self._lock:
            return SUCCESS, "", int(self._subscribers[topic].pop(caller, None) is not None)

    def _note(self, caller: str, topic: str, type_name: str, uri: str) -> None:
        self._nodes[caller] = uri
        if type_name != "*":
            self._types.setdefault(topic, type_name)

    def _tell(self, topic: str) -> None:
        """Send a topic's subscribers the URIs of its present publishers."""
        with self._lock:
            publishers = list(self._publishers[topic].values())
            for uri in self._subscribers[topic].values():
                with suppress(RuntimeError):  # the master is about to close
                    self._tellers.submit(_update, uri, topic, publishers)

    def _look_up(self, caller: str, name: str) -> Answer:
        uri = self._nodes.get(name)
        return (SUCCESS, "", uri) if uri is not None else (FAILURE, f"unknown node {name}", "")

    def _published(self, caller: str, below: str) -> Answer:
        with self._lock:
            topics = [topic for topic, nodes in self._publishers.items() if nodes and topic.startswith(below)]
        return SUCCESS, "", [[topic, self._types.get(topic, "*")] for topic in topics]

    def _state(self, caller: str) -> Answer:
        with self._lock:
            sides = [
                [[topic, list(nodes)] for topic, nodes in side.items() if nodes]
                for side in (self._publishers, self._subscribers)
            ]
        return SUCCESS, "", [*sides, []]

    def _parameter(self, caller: str, name: str) -> Answer:
        key = _absolute(name)
        if key in self._parameters:
            return SUCCESS, "", self._parameters[key]
        return FAILURE, f"parameter {key} is not set", 0

    def _set_parameter(self, caller: str, name: str, value: Any) -> Answer:
        self._parameters[_absolute(name)] = value
        return SUCCESS, "", 0


def _absolute(name: str) -> str:
    return "/" + name.strip("/")


def _update(uri: str, topic: str, publishers: list[str]) -> None:
    with suppress(Ros1Error):  # the subscriber has ended
        call(uri, "publisherUpdate", "/master", topic, publishers)
