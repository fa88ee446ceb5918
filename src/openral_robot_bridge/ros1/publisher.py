"""One topic that a node publishes, to any number of subscribers; a slow one does not delay the others."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass
from typing import Any

from openral_robot_bridge.ros1.messages import ANY, MessageTypes, Ros1Error
from openral_robot_bridge.ros1.tcpros import encode_header, frame, notice_a_cut


@dataclass
class _Listener:
    connection: socket.socket
    left: bytes = b""
    """Rest of a message that has not been sent yet."""


class TopicPublisher:
    """Publishes from any thread without waiting; a subscriber that is too slow misses messages."""

    def __init__(self, topic: str, type_name: str, types: MessageTypes, latch: bool) -> None:
        """Begin without subscribers; with `latch`, each new subscriber gets the last message."""
        self.topic, self.type_name, self._types, self._latch = topic, type_name, types, latch
        self._listeners: list[_Listener] = []
        self._lock = threading.Lock()
        self._last: bytes | None = None

    @property
    def listeners(self) -> int:
        """Number of connected subscribers."""
        with self._lock:
            for listener in list(self._listeners):
                if _is_closed(listener.connection):
                    self._drop(listener)
            return len(self._listeners)

    def publish(self, message: Any) -> None:
        """Send a message to all connected subscribers."""
        data = frame(self._types.encode(self.type_name, message))
        with self._lock:
            if self._latch:
                self._last = data
            for listener in list(self._listeners):
                self._send(listener, data)

    def accept(self, connection: socket.socket, asked: dict[str, str], caller_id: str) -> None:
        """Answer a subscriber's header, and add it to the subscribers.

        Args:
            connection: of the subscriber.
            asked: header of the subscriber.
            caller_id: name of this node.

        Raises:
            Ros1Error: the subscriber expects another type; an error header was sent to it.
            OSError: the connection is lost.
        """
        definition, checksum = self._types.definition(self.type_name)
        for key, ours in (("type", self.type_name), ("md5sum", checksum)):
            theirs = asked.get(key, "")
            if theirs not in (ours, ANY):
                words = (
                    f"{self.topic} has {key} {ours}, and {asked.get('callerid', 'a node')} asks for {theirs}"
                )
                connection.sendall(encode_header({"error": words}))
                raise Ros1Error(words)
        answer = {
            "callerid": caller_id,
            "latching": str(int(self._latch)),
            "md5sum": checksum,
            "message_definition": definition,
            "topic": self.topic,
            "type": self.type_name,
        }
        connection.sendall(encode_header(answer))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        notice_a_cut(connection)
        connection.setblocking(False)
        listener = _Listener(connection)
        with self._lock:
            self._listeners.append(listener)
            if self._last is not None:
                self._send(listener, self._last)

    def close(self) -> None:
        """Disconnect from all subscribers."""
        with self._lock:
            for listener in list(self._listeners):
                self._drop(listener)

    def _send(self, listener: _Listener, data: bytes) -> None:
        """Send a whole message, or none if the last one has not been sent completely."""
        try:
            if listener.left:
                listener.left = listener.left[listener.connection.send(listener.left) :]
            if not listener.left:
                listener.left = data[listener.connection.send(data) :]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(listener)

    def _drop(self, listener: _Listener) -> None:
        self._listeners.remove(listener)
        with contextlib.suppress(OSError):
            listener.connection.close()


def _is_closed(connection: socket.socket) -> bool:
    """Return whether a peer, which never sends data, has closed its connection."""
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
