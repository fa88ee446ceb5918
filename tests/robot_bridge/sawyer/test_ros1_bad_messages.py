"""A ROS 1 publisher that sends what nobody can read, and then what everybody can."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from xmlrpc.server import SimpleXMLRPCServer

import pytest

pytest.importorskip("rosbags")

from openral_robot_bridge.ros1.messages import MessageTypes
from openral_robot_bridge.ros1.node import Ros1Node
from openral_robot_bridge.ros1.rpc import SUCCESS, RpcServer, call
from openral_robot_bridge.ros1.subscriber import MAX_PUBLISHERS, TopicSubscriber
from openral_robot_bridge.ros1.tcpros import encode_header, frame, read_header

PATIENCE_S = 20.0
TYPES = MessageTypes({})
TYPE = "std_msgs/String"
TEXT = frame(b"\x05\x00\x00\x00hello")
BAD = {
    "a string that is longer than its message": frame(b"\xff\xff\x00\x00hello"),
    "a message without content": frame(b""),
    "bytes that are no text": frame(b"\x02\x00\x00\x00\xff\xfe"),
    "a frame that would fill the memory": b"\xff\xff\xff\xff",
}


@contextmanager
def publisher(first: bytes) -> Iterator[str]:
    """A node that sends `first` to whom connects first, and TEXT to whom connects later; its address."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    api = SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
    api.register_function(lambda *asked: [1, "", ["TCPROS", "127.0.0.1", port]], "requestTopic")
    definition, checksum = TYPES.definition(TYPE)
    answer = {"callerid": "/talker", "md5sum": checksum, "type": TYPE, "message_definition": definition}

    def serve() -> None:
        sent = first
        while True:
            try:
                peer = server.accept()[0]
            except OSError:
                return
            with peer:
                read_header(peer)
                peer.sendall(encode_header(answer) + sent)
                peer.recv(1)  # until the subscriber closes
            sent = TEXT

    works = (serve, lambda: api.serve_forever(poll_interval=0.02))
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield f"http://127.0.0.1:{api.server_address[1]}"
    finally:
        api.shutdown()
        api.server_close()
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_message_costs_itself_and_not_the_topic(bad: bytes) -> None:
    heard: queue.Queue[str] = queue.Queue()
    subscriber = TopicSubscriber(
        "/chatter", TYPE, TYPES, "/listener", lambda message: heard.put(message.data)
    )
    with publisher(bad) as uri:
        subscriber.update([uri])
        try:
            assert heard.get(timeout=PATIENCE_S) == "hello"
            assert subscriber.faults == {}
        finally:
            subscriber.close()
    assert heard.empty()


def test_a_reader_that_fails_hears_the_next() -> None:
    heard: queue.Queue[str] = queue.Queue()
    calls = 0

    def read(message: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyError("a bug")
        heard.put("read")

    subscriber = TopicSubscriber("/chatter", TYPE, TYPES, "/listener", read)
    with publisher(TEXT) as uri:
        subscriber.update([uri])
        try:
            assert heard.get(timeout=PATIENCE_S) == "read"
        finally:
            subscriber.close()


def test_any_number_of_publishers_may_be_named_and_only_some_are_read_together() -> None:
    heard: queue.Queue[str] = queue.Queue()
    subscriber = TopicSubscriber("/many", TYPE, TYPES, "/listener", lambda message: heard.put(message.data))
    with publisher(TEXT) as uri:
        subscriber.update(f"http://127.0.0.1:1/{number}" for number in range(300))
        try:
            reading = [thread for thread in threading.enumerate() if thread.name == "/many"]
            assert len(reading) == MAX_PUBLISHERS
            subscriber.update([uri])
            assert heard.get(timeout=PATIENCE_S) == "hello"
        finally:
            subscriber.close()


def test_a_publisher_that_came_while_the_master_answered_is_connected_to_again() -> None:
    """Its update is newer than the answer, which does not know it yet."""
    heard: queue.Queue[str] = queue.Queue()
    nodes: dict[str, str] = {}

    with publisher(frame(b"")) as uri:

        def register(caller: str, topic: str, kind: str, node: str) -> tuple[int, str, list[str]]:
            nodes[caller] = node
            call(node, "publisherUpdate", "/master", topic, [uri])
            return SUCCESS, "", []

        methods = {
            "registerSubscriber": register,
            "unregisterSubscriber": lambda *about: (SUCCESS, "", 1),
            "lookupNode": lambda caller, name: (SUCCESS, "", nodes[name]),
        }
        master = RpcServer("127.0.0.1", 0, methods)
        node = Ros1Node("listener", master.uri.removeprefix("http://").rstrip("/"), TYPES)
        try:
            node.subscribe("/chatter", TYPE, lambda message: heard.put(message.data))
            assert heard.get(timeout=PATIENCE_S) == "hello"
        finally:
            node.close()
            master.close()
