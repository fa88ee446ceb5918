"""One topic that a node subscribes to: a thread for each publisher reads, and reconnects after a loss."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from openral_robot_bridge.ros1.messages import ANY, MessageTypes, Ros1Error
from openral_robot_bridge.ros1.rpc import call
from openral_robot_bridge.ros1.tcpros import (
    MAX_MESSAGE_BYTES,
    encode_header,
    notice_a_cut,
    read_frame,
    read_header,
)

CONNECT_S = 3.0
"""[s] timeout of a connection to a publisher."""
AGAIN_S = 0.5
"""[s] between two attempts to connect to a publisher."""
MAX_PUBLISHERS = 32
"""Publishers of a topic that are read together, as whoever names them may name any number."""


class TopicSubscriber:
    """Receives the messages of a topic in threads of its own, one for each publisher."""

    def __init__(
        self,
        topic: str,
        type_name: str,
        types: MessageTypes,
        caller_id: str,
        heard: Callable[[Any], None],
    ) -> None:
        """Begin without publishers; see `update`.

        Args:
            topic: name of the topic.
            type_name: type of its messages; one that is not in `types` is read by each publisher's own definition.
            types: message types.
            caller_id: name of this node.
            heard: called with each message.
        """
        self.topic, self.type_name, self._types = topic, type_name, types
        self._caller_id, self._heard = caller_id, heard
        self._wanted: set[str] = set()
        self.updates = 0
        """Number of calls of `update` so far."""
        self._threads: dict[str, threading.Thread] = {}
        self._open: dict[str, socket.socket] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.faults: dict[str, str] = {}
        """Reason why there is no connection to a publisher, by its URI."""

    @property
    def publishers(self) -> int:
        """Number of connected publishers."""
        return len(self._open)

    def update(self, publishers: Iterable[str], after: int | None = None) -> None:
        """Set the URIs of all present publishers; open connections to others stay until their publisher ends them.

        Args:
            publishers: URIs of nodes.
            after: value of `updates` when a master was asked for them; they are left out if another call, which knows
                more, has come since. None: they are the newest.
        """
        with self._lock:
            if after not in (None, self.updates):
                return
            self.updates += 1
            self._wanted = set(publishers)
            self._start_missing()

    def close(self) -> None:
        """Disconnect from all publishers."""
        self._closed.set()
        with self._lock:
            threads = list(self._threads.values())
            for connection in list(self._open.values()):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(CONNECT_S)

    def _start_missing(self) -> None:
        """Start the threads of publishers that have none, as far as there may be more. The lock must be held."""
        for uri in self._wanted - self._threads.keys():
            if self._closed.is_set() or len(self._threads) >= MAX_PUBLISHERS:
                return
            thread = threading.Thread(target=self._read, args=(uri,), name=self.topic, daemon=True)
            self._threads[uri] = thread
            thread.start()

    def _read(self, uri: str) -> None:
        """Read from one publisher as long as it is among the present ones."""
        while not self._closed.is_set():
            try:
                self._listen(uri)
                self.faults.pop(uri, None)
            except (Ros1Error, OSError) as error:
                self.faults[uri] = str(error)
            except Exception as error:  # noqa: BLE001  an error in `heard` must not end the subscription
                self.faults[uri] = f"{type(error).__name__}: {error}"
            self._closed.wait(AGAIN_S)
            with self._lock:
                if uri not in self._wanted or self._closed.is_set():
                    self._threads.pop(uri, None)
                    self.faults.pop(uri, None)
                    self._start_missing()
                    return

    def _listen(self, uri: str) -> None:
        with self._connect(uri) as connection:
            types, checksum = self._types, ANY
            known = self.type_name in types
            if known:
                checksum = types.definition(self.type_name)[1]
            asked = {
                "callerid": self._caller_id,
                "md5sum": checksum,
                "tcp_nodelay": "1",
                "topic": self.topic,
                "type": self.type_name,
            }
            notice_a_cut(connection)
            connection.sendall(encode_header(asked))
            answer = read_header(connection)
            self._check(answer, checksum)
            if not known:
                types = MessageTypes({self.type_name: answer.get("message_definition", "")})
            connection.settimeout(None)
            with self._lock:
                self._open[uri] = connection
                if self._closed.is_set():
                    return
            self.faults.pop(uri, None)
            try:
                while (data := read_frame(connection, MAX_MESSAGE_BYTES)) is not None:
                    self._heard(types.decode(self.type_name, data))
            finally:
                with self._lock:
                    self._open.pop(uri, None)

    def _connect(self, uri: str) -> socket.socket:
        protocol = call(uri, "requestTopic", self._caller_id, self.topic, [["TCPROS"]])
        if not isinstance(protocol, list) or len(protocol) != 3 or protocol[0] != "TCPROS":
            raise Ros1Error(f"{uri} does not offer {self.topic} over TCPROS")
        host, port = str(protocol[1]), protocol[2]
        if not isinstance(port, int) or not 0 < port < 1 << 16:
            raise Ros1Error(f"{uri} offers {self.topic} at port {port}, which is none")
        try:
            return socket.create_connection((host, port), CONNECT_S)
        except socket.gaierror as error:
            words = f"{self.topic} comes from {host}, whose address is not known"
            raise Ros1Error(f"{words}; write its address and this name into /etc/hosts") from error

    def _check(self, answer: dict[str, str], checksum: str) -> None:
        if "error" in answer:
            raise Ros1Error(f"{self.topic}: {answer['error']}")
        theirs = answer.get("md5sum", "")
        if checksum != ANY and theirs != checksum:
            found = f"{self.topic} is {answer.get('type')} with checksum {theirs}"
            raise Ros1Error(f"{found}; expected {self.type_name} with {checksum}")
