"""Thousands of damaged frames for each server and client: nothing ends or grows, and the next call is answered."""

from __future__ import annotations

import gc
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import psutil
import pytest
import zmq
from sidecar_helpers import PATIENCE_S, wait_for
from sidecar_mutations import mutations, some_request

from openral_core.errors import SidecarError
from openral_sidecar.client import SidecarClient
from openral_sidecar.errors import SidecarTimeout
from openral_sidecar.server_announcement import ServerIdentity, announcements
from openral_sidecar.wires import openral as wire
from openral_sidecar.wires import rldx as rldx_wire

COUNTS = [
    500,
    pytest.param(2_000, marks=pytest.mark.slow),
    pytest.param(10_000, marks=pytest.mark.long),
]
AT_ONCE = 100
MOST_GROWTH = 24 * 2**20
"""Bytes of memory. Allocators keep some; ten thousand frames of which one in a hundred leaked would keep more."""
IMAGE = np.arange(48 * 48 * 3, dtype=np.uint8).reshape(48, 48, 3)
STATE = np.linspace(0, 1, 8, dtype=np.float32)
OBSERVATION = {
    "video.image": IMAGE[None, None],
    "state.x": STATE[None, None, :1],
    "task": ["open the drawer"],
}
REQUESTS = {
    "openral": [
        some_request("ping"),
        some_request("hello"),
        wire.pack(
            {
                "v": 1,
                "id": 7,
                "op": "echo",
                "token": "t",
                "wait_ms": 5,
                "data": {"image": IMAGE, "state": STATE},
            }
        ),
    ],
    "rldx": [
        rldx_wire.encode({"endpoint": "ping"}),
        rldx_wire.encode({"endpoint": "reset", "data": {"options": {"session_ids": ["a"]}}}),
        rldx_wire.encode({"endpoint": "get_action", "data": {"observation": OBSERVATION, "options": None}}),
    ],
}
CHUNK = np.zeros((16, 7), np.float32)
REPLIES = {
    "openral": [
        wire.pack({"v": 1, "id": 1, "data": {"action": CHUNK, "image": IMAGE}}),
        wire.pack({"v": 1, "id": 1, "code": "busy", "message": "later"}),
    ],
    "rldx": [
        rldx_wire.encode([{"action.x": CHUNK}, {"info": IMAGE}]),
        rldx_wire.encode({"error": "no"}),
        rldx_wire.encode({"video": rldx_wire.ModalityConfig([-6, -4, -2, 0], ["front_view"])}),
    ],
}


@pytest.fixture
def server(request: pytest.FixtureRequest, start_server) -> Iterator[ServerIdentity]:
    """A server of the dialect in `request.param`."""
    if request.param == "openral":
        yield start_server()[1]
        return
    command = [sys.executable, "-m", "openral_policy_nodes.families.rldx.conformance_server", "--model", "m"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield wait_for(
                lambda: next((found for found in announcements() if found.pid == process.pid), None),
                "the server",
            )
        finally:
            process.kill()


def memory(pid: int | None = None) -> int:
    """Bytes of physical memory of a process; None: of this one."""
    gc.collect()
    return int(psutil.Process(pid).memory_info().rss)


def send_all(endpoint: str, frames: Iterator[bytes]) -> None:
    """Send frames, as many at once as clients could have under way."""
    with zmq.Context() as context:
        senders = [context.socket(zmq.REQ) for _ in range(AT_ONCE)]
        for sender in senders:
            sender.linger = 0
            sender.setsockopt(zmq.REQ_RELAXED, 1)
            sender.connect(endpoint)
        for number, frame in enumerate(frames):
            sender = senders[number % AT_ONCE]
            if number >= AT_ONCE and sender.poll(20):
                sender.recv()
            sender.send(frame)
        for sender in senders:
            sender.close(linger=0)


@pytest.mark.parametrize(
    ("server", "dialect"), [("openral", "openral"), ("rldx", "rldx")], indirect=["server"]
)
@pytest.mark.parametrize("count", COUNTS)
def test_a_server_survives_damaged_requests(server: ServerIdentity, dialect: str, client, count: int) -> None:
    send_all(server.endpoint, mutations(REQUESTS[dialect], count // 10, seed=1))
    before = memory(server.pid)
    send_all(server.endpoint, mutations(REQUESTS[dialect], count, seed=2))
    assert client(server.endpoint, dialect=dialect).call("ping", timeout_s=PATIENCE_S)
    assert memory(server.pid) - before < MOST_GROWTH


@pytest.mark.parametrize("server", ["openral"], indirect=True)
def test_a_server_survives_what_is_no_message_at_all(server: ServerIdentity, client) -> None:
    before = memory(server.pid)
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        dealer.connect(server.endpoint)
        for parts in (
            [b""],
            [b"", b""],
            [b"x"],
            [b"", b"x", b"y"],
            [b"x"] * 50,
            [b"", b"", some_request("ping")],
        ):
            dealer.send_multipart(parts)
        for _ in range(5):
            dealer.send_multipart([b"", bytes(64 * 2**20)])
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(1000), b"\xff" + bytes(8) + b"\x7f" + b"\xff" * 500):
            with socket.create_connection((server.host, server.port)) as raw:
                raw.sendall(garbage)
        assert client(server.endpoint).call("echo", {"x": 1}, timeout_s=PATIENCE_S) == {"x": 1}
    assert memory(server.pid) - before < MOST_GROWTH


@pytest.fixture
def answering() -> Iterator[Callable[[Sequence[bytes] | Iterator[bytes]], str]]:
    """A server that answers its requests with the given frames, one after another."""
    context, ends = zmq.Context(), threading.Event()
    threads: list[threading.Thread] = []

    def answer(replies: Iterator[bytes], socket: zmq.Socket[bytes]) -> None:
        with socket:
            while not ends.is_set():
                if socket.poll(50):
                    socket.recv()
                    socket.send(next(replies))

    def start(frames: Sequence[bytes] | Iterator[bytes]) -> str:
        socket = context.socket(zmq.REP)
        socket.linger = 0
        socket.bind("tcp://127.0.0.1:*")
        endpoint = socket.getsockopt_string(zmq.LAST_ENDPOINT)
        threads.append(threading.Thread(target=answer, args=(iter(frames), socket)))
        threads[-1].start()
        return endpoint

    yield start
    ends.set()
    for thread in threads:
        thread.join()
    context.term()


def ask(caller: SidecarClient, times: int) -> list[str]:
    """Call, whatever comes; return the errors."""
    errors = []
    for _ in range(times):
        try:
            assert isinstance(caller.call("get_action", {}, timeout_s=PATIENCE_S), dict)
        except SidecarTimeout:
            raise
        except SidecarError as error:
            errors.append(str(error))
    return errors


@pytest.mark.parametrize("dialect", ["openral", "rldx"])
@pytest.mark.parametrize("count", COUNTS)
def test_a_client_survives_damaged_replies(answering, client, dialect: str, count: int) -> None:
    caller = client(answering(mutations(REPLIES[dialect], count * 11 // 10, seed=3)), dialect=dialect)
    ask(caller, count // 10)
    before = memory()
    errors = ask(caller, count)
    assert memory() - before < MOST_GROWTH
    assert [error for error in errors if not error.isprintable()] == []


def test_a_client_takes_fields_of_any_type(answering, client) -> None:
    """A list in the place of a number or of words, as deep as a message can have it, or an array."""
    nest = b"\x91" * 1000 + b"\x90"
    pair = np.zeros(2, np.uint8)
    odd = [
        wire.pack({"v": pair, "id": 1, "data": {}}),
        wire.pack({"v": 1, "id": pair, "data": {}}),
        wire.pack({"v": 99, "data": {}}).replace(b"\xa1v\x63", b"\xa1v" + nest),
        wire.pack({"v": 1, "code": "x", "message": 99}).replace(b"message\x63", b"message" + nest),
    ]
    assert len(ask(client(answering(odd)), len(odd))) == len(odd)
    error = rldx_wire.encode({"error": 99}).replace(b"error\x63", b"error" + nest)
    assert ask(client(answering([error]), dialect="rldx"), 1) == [
        "error: the server failed and did not say why; see its log"
    ]


@pytest.mark.parametrize("dialect", ["openral", "rldx"])
def test_a_client_takes_no_reply_that_is_too_large(answering, client, dialect: str) -> None:
    caller = client(answering([bytes(64 * 2**20), REPLIES[dialect][0]]), dialect=dialect)
    before = memory()
    with pytest.raises(SidecarTimeout):
        caller.call("get_action", {}, timeout_s=1.0)
    assert memory() - before < 64 * 2**20 + MOST_GROWTH, (
        "the fake server, in this process, has the reply once"
    )
