"""A node of a ROS 1 graph: it registers with the master, and again with a master that has restarted."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from openral_robot_bridge.connection_limit import ConnectionLimit
from openral_robot_bridge.ros1.messages import MessageTypes, Ros1Error
from openral_robot_bridge.ros1.publisher import TopicPublisher
from openral_robot_bridge.ros1.rpc import FAILURE, SUCCESS, RpcServer, call
from openral_robot_bridge.ros1.subscriber import TopicSubscriber
from openral_robot_bridge.ros1.tcpros import read_header

MASTER_PORT = 11311
LOOK_S = 1.0
"""[s] between two checks that the master still knows this node."""
HANDSHAKE_S = 3.0
"""[s] timeout of a subscriber's connection header."""
MAX_SUBSCRIBERS = 64
"""Connections of subscribers that are open together, of all topics."""
RETRY_S = 0.1
"""[s] after a connection that could not be accepted."""

Answer = tuple[int, str, Any]


class Ros1Node:
    """Publishes and subscribes; it listens only on the address of this machine from which the master is reached."""

    def __init__(self, name: str, master: str, types: MessageTypes) -> None:
        """Open the node's ports.

        Args:
            name: of the node; a random suffix makes it unique.
            master: address of the master, `host` or `host:port`; the default port is 11311.
            types: of all messages.

        Raises:
            Ros1Error: the master's address is malformed, unknown, or not reachable.
        """
        host, port = master_address(master)
        self.master_uri = f"http://{host}:{port}/"
        self.name = f"/{name}_{os.getpid()}_{secrets.token_hex(4)}"
        self.types = types
        """Types of all messages."""
        self._host = _address_towards(host, port)
        self._publishers: dict[str, TopicPublisher] = {}
        self._subscribers: dict[str, TopicSubscriber] = {}
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self.registered = False
        """Whether the master knew this node at the last check."""
        self._listener = socket.create_server((self._host, 0))
        self._port = int(self._listener.getsockname()[1])
        self._limit = ConnectionLimit(MAX_SUBSCRIBERS, f"topics of ROS 1 at {self._host}:{self._port}")
        self._rpc = RpcServer(self._host, 0, self._methods())
        for target in (self._accept, self._watch):
            threading.Thread(target=target, name=f"{name} {target.__name__}", daemon=True).start()

    def publish(self, topic: str, type_name: str, *, latch: bool = False) -> TopicPublisher:
        """Advertise a topic, and return its publisher.

        Raises:
            Ros1Error: the master does not answer.
        """
        made = TopicPublisher(topic, type_name, self.types, latch)
        with self._lock:
            self._publishers[topic] = made
            self._register_publisher(made)
        return made

    def subscribe(self, topic: str, type_name: str, heard: Callable[[Any], None]) -> TopicSubscriber:
        """Subscribe to a topic; `heard` is called with each message, in other threads.

        Raises:
            Ros1Error: the master does not answer.
        """
        made = TopicSubscriber(topic, type_name, self.types, self.name, heard)
        with self._lock:
            self._subscribers[topic] = made
            self._register_subscriber(made)
        return made

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return a parameter of the master; `default` if it is not set or the master does not answer."""
        try:
            return call(self.master_uri, "getParam", self.name, name)
        except Ros1Error:
            return default

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter of the master.

        Raises:
            Ros1Error: the master does not answer.
        """
        call(self.master_uri, "setParam", self.name, name, value)

    def close(self) -> None:
        """Unregister from the master, and close all connections and ports."""
        self._closed.set()
        with self._lock, contextlib.suppress(Ros1Error):  # the master may have ended
            for publisher in self._publishers.values():
                call(self.master_uri, "unregisterPublisher", self.name, publisher.topic, self._rpc.uri)
            for subscriber in self._subscribers.values():
                call(self.master_uri, "unregisterSubscriber", self.name, subscriber.topic, self._rpc.uri)
        for publisher in self._publishers.values():
            publisher.close()
        for subscriber in self._subscribers.values():
            subscriber.close()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._rpc.close()

    def _register_publisher(self, made: TopicPublisher) -> None:
        call(self.master_uri, "registerPublisher", self.name, made.topic, made.type_name, self._rpc.uri)

    def _register_subscriber(self, made: TopicSubscriber) -> None:
        before = made.updates  # the master may tell of a publisher before its answer is here
        uris = call(
            self.master_uri, "registerSubscriber", self.name, made.topic, made.type_name, self._rpc.uri
        )
        made.update((str(uri) for uri in uris), after=before)

    def _watch(self) -> None:
        """Register again with a master that has restarted."""
        while not self._closed.wait(LOOK_S):
            try:
                self.registered = call(self.master_uri, "lookupNode", self.name, self.name) == self._rpc.uri
            except Ros1Error:
                self.registered = False
            with self._lock, contextlib.suppress(Ros1Error):  # the next check tries again
                if not self.registered and not self._closed.is_set():
                    for publisher in self._publishers.values():
                        self._register_publisher(publisher)
                    for subscriber in self._subscribers.values():
                        self._register_subscriber(subscriber)
                    self.registered = bool(self._publishers or self._subscribers)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed, or a connection that was given up, or too many open files for now
                self._closed.wait(RETRY_S)
                continue
            publishers = list(self._publishers.values())
            if not self._limit.enter(beside=sum(publisher.listeners for publisher in publishers)):
                connection.close()
                continue
            threading.Thread(target=self._welcome, args=(connection,), daemon=True).start()

    def _welcome(self, connection: socket.socket) -> None:
        """Pass the connection of a subscriber to the publisher of its topic."""
        try:
            connection.settimeout(HANDSHAKE_S)
            asked = read_header(connection)
            self._publishers[asked["topic"]].accept(connection, asked, self.name)
        except (Ros1Error, OSError, KeyError):  # the closed connection tells the subscriber
            connection.close()
        finally:
            self._limit.leave()

    def _methods(self) -> dict[str, Callable[..., Answer]]:
        """Return the methods of the Slave API, by name."""
        return {
            "requestTopic": self._request_topic,
            "publisherUpdate": self._publisher_update,
            "getPid": lambda caller: (SUCCESS, "", os.getpid()),
            "getMasterUri": lambda caller: (SUCCESS, "", self.master_uri),
            "getBusStats": lambda caller: (SUCCESS, "", [[], [], []]),
            "getBusInfo": lambda caller: (SUCCESS, "", []),
            "getPublications": lambda caller: (
                SUCCESS,
                "",
                [[p.topic, p.type_name] for p in list(self._publishers.values())],
            ),
            "getSubscriptions": lambda caller: (
                SUCCESS,
                "",
                [[s.topic, s.type_name] for s in list(self._subscribers.values())],
            ),
            "paramUpdate": lambda caller, key, value: (SUCCESS, "", 0),
            "shutdown": lambda caller, words="": (FAILURE, "this node ends when its owner says so", 0),
        }

    def _request_topic(self, caller: str, topic: str, protocols: list[Any]) -> Answer:
        if topic not in self._publishers:
            return FAILURE, f"{self.name} does not publish {topic}", 0
        if not any(protocol and protocol[0] == "TCPROS" for protocol in protocols):
            return FAILURE, f"{self.name} speaks TCPROS only", 0
        return SUCCESS, "", ["TCPROS", self._host, self._port]

    def _publisher_update(self, caller: str, topic: str, publishers: list[str]) -> Answer:
        if topic in self._subscribers:
            self._subscribers[topic].update(str(uri) for uri in publishers)
        return SUCCESS, "", 0


def master_address(text: str) -> tuple[str, int]:
    """Return host and port of a master, from `host` or `host:port`.

    Raises:
        Ros1Error: the port is invalid.
    """
    try:
        parts = urlsplit(f"http://{text}")
        return parts.hostname or "", parts.port or MASTER_PORT
    except ValueError as error:
        raise Ros1Error(f"{text} is no address of a master; write `host` or `host:port`") from error


def _address_towards(host: str, port: int) -> str:
    """Return the address of this machine from which another one is reached, without sending anything.

    Raises:
        Ros1Error: the host is unknown or not reachable.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, port))
        except OSError as error:
            raise Ros1Error(f"{host} is not known or cannot be reached from here: {error}") from error
        return str(probe.getsockname()[0])
