"""A policy server without a policy, for tests and to try out a contract: it answers one repeated action, or a fault.

    python -m openral_policy_nodes.families.external.fake_server --dialect openpi --action 0 0 0 -1 --port 8000

It uses the protocol of openpi's `WebsocketPolicyServer`, or that of the servers of RLDX-1 and GR00T (`--dialect zmq`),
and prints `{"port": …, "url": …}` once it is ready.
"""

from __future__ import annotations

import argparse
import contextlib
import hmac
import json
import sys
import threading
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

import numpy as np
import zmq
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from openral_policy_nodes.families.external import openpi_wire
from openral_sidecar.server import port_number
from openral_sidecar.stop_request import StopRequest
from openral_sidecar.wires import rldx as rldx_wire

Behaviour = Literal["answer", "hang", "fail", "drop", "wrong_shape", "garbage"]


@dataclass
class FakeAnswers:
    """Script of a fake server's answers."""

    action: tuple[float, ...]
    """(A,) action of every step."""
    horizon: int = 16
    """H, number of steps of a chunk."""
    names: dict[str, int] = field(default_factory=dict)
    """Name on the wire -> number of values; empty: all values under the name `actions`."""
    behaviour: Behaviour = "answer"
    """Behaviour from call `good_calls + 1` on; earlier calls are answered correctly."""
    good_calls: int = 0
    failure: str = "told to fail"
    """What the server says of a failure."""
    seen: list[dict[str, Any]] = field(default_factory=list)
    """The received observations."""

    def next(self, observation: dict[str, Any], lead: tuple[int, ...]) -> tuple[Behaviour, dict[str, Any]]:
        """Store an observation; return the behaviour, and the answer: an array `(*lead, H, d)` for each name."""
        self.seen.append(observation)
        behaviour = self.behaviour if len(self.seen) > self.good_calls else "answer"
        horizon = 1 if behaviour == "wrong_shape" else self.horizon
        chunk = np.broadcast_to(np.asarray(self.action, np.float32), (*lead, horizon, len(self.action)))
        answer, begin = {}, 0
        for name, size in (self.names or {"actions": len(self.action)}).items():
            answer[name] = np.ascontiguousarray(chunk[..., begin : begin + size])
            begin += size
        return behaviour, answer


class FakeOpenpiServer:
    """A WebSocket server on loopback that runs in threads of its own until `close`."""

    def __init__(self, answers: FakeAnswers, *, port: int = 0, token: str = "") -> None:
        """Begin to listen.

        Args:
            answers: script of the answers.
            port: 0: any free one.
            token: that clients must send; empty: none is required.
        """
        self.answers = answers
        self._token = token
        self._closed = threading.Event()
        self._connections: set[ServerConnection] = set()
        self._server: Server = serve(
            self._talk, "127.0.0.1", port, compression=None, max_size=None, process_request=self._admit
        )
        self.port = int(self._server.socket.getsockname()[1])
        self.url = f"ws://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, name="fake openpi", daemon=True).start()

    def close(self) -> None:
        """Stop listening, and close all connections."""
        self._closed.set()
        self._server.shutdown()
        for connection in list(self._connections):
            connection.close_socket()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        given = request.headers.get("Authorization", "")
        if self._token and not hmac.compare_digest(given, f"Api-Key {self._token}"):
            return Response(HTTPStatus.UNAUTHORIZED, "Unauthorized", Headers(), b"")
        return None

    def _talk(self, connection: ServerConnection) -> None:
        self._connections.add(connection)
        try:
            self._answer(connection)
        except ConnectionClosed:
            pass  # the client left in the middle of an answer
        finally:
            self._connections.discard(connection)

    def _answer(self, connection: ServerConnection) -> None:
        connection.send(openpi_wire.pack({"policy": "fake", "action_horizon": self.answers.horizon}))
        for frame in connection:
            begun = time.monotonic()
            behaviour, answer = self.answers.next(openpi_wire.unpack(bytes(frame)), ())  # type: ignore[arg-type]
            if behaviour == "hang":
                self._closed.wait()
            if behaviour in ("hang", "drop"):
                connection.close_socket()
                return
            if behaviour == "fail":  # upstream sends its traceback as text, and then closes the connection
                connection.send(f"Traceback (most recent call last):\nValueError: {self.answers.failure}")
                connection.close(1011, "Internal server error. Traceback included in previous frame.")
                return
            spent = {"infer_ms": (time.monotonic() - begun) * 1e3}
            garbage = behaviour == "garbage"
            connection.send(b"\xc1" if garbage else openpi_wire.pack({**answer, "server_timing": spent}))


class FakeZmqServer:
    """A ZeroMQ server on loopback that runs in a thread of its own until `close`."""

    def __init__(self, answers: FakeAnswers, *, port: int = 0, token: str = "") -> None:
        """Begin to listen; see FakeOpenpiServer."""
        self.answers = answers
        self._token = token
        self._closed = threading.Event()
        self._context = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(zmq.REP)
        self._socket.bind(f"tcp://127.0.0.1:{port}")
        self.port = int(self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        self.url = f"zmq://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._serve, name="fake zmq policy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread, and close the socket."""
        self._closed.set()
        self._thread.join()
        self._context.destroy(linger=0)

    def _serve(self) -> None:
        while not self._closed.is_set():
            if self._socket.poll(50):
                reply = self._reply(rldx_wire.decode(self._socket.recv()))
                if reply is not None:
                    self._socket.send(reply)

    def _reply(self, request: Any) -> bytes | None:
        """Return the reply to a request; None: the server was closed while it hung."""
        if self._token and not hmac.compare_digest(str(request.get("api_token", "")), self._token):
            return rldx_wire.encode({"error": "Unauthorized: Invalid API token"})
        endpoint = request.get("endpoint", "get_action")
        if endpoint == "ping":
            return rldx_wire.encode({"status": "ok", "message": "Server is running"})
        if endpoint == "reset":
            return rldx_wire.encode({"cleared_sessions": request["data"]["options"]["session_ids"]})
        if endpoint != "get_action":
            return rldx_wire.encode({"error": f"Unknown endpoint: {endpoint}"})
        observation = request["data"]["observation"]
        rows = next(len(value) for value in observation.values() if isinstance(value, list))
        behaviour, answer = self.answers.next(observation, (rows,))
        if behaviour in ("hang", "drop"):
            self._closed.wait()
            return None
        if behaviour == "fail":
            return rldx_wire.encode({"error": self.answers.failure})
        return b"\xc1" if behaviour == "garbage" else rldx_wire.encode([answer, {}])


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="a policy server without a policy")
    parser.add_argument("--dialect", choices=["openpi", "zmq"], default="openpi")
    parser.add_argument("--action", type=float, nargs="+", required=True, help="(A,) of every step")
    parser.add_argument("--horizon", type=int, default=16)
    parser.add_argument("--port", type=port_number, default=0, help="0: a free one")
    args = parser.parse_args()
    kind = FakeOpenpiServer if args.dialect == "openpi" else FakeZmqServer
    server = kind(FakeAnswers(tuple(args.action), args.horizon), port=args.port)
    stop = StopRequest()
    with contextlib.closing(stop), stop.on_signals():
        sys.stdout.write(json.dumps({"port": server.port, "url": server.url}) + "\n")
        sys.stdout.flush()
        stop.wait()
    server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
