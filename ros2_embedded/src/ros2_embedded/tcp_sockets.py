"""Sets options of this process's TCP sockets for links to other machines, for which Zenoh has no settings."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from pathlib import Path

UNSENT_BYTES = 65536
"""[bytes] limit of a socket's data that is queued in the system but not sent yet; Linux allows up to 4 MB.

The queue is sent in order, so an urgent message such as a stop waits for all of it. Data that was sent but
not acknowledged is not limited.
"""
SILENT_S = 10.0
"""[s] time without an acknowledgement after which a link is closed; Zenoh tolerates silence for as long.

Without it Zenoh waits for the acknowledgement, takes a new link for a further one of the same peer, and
closes both.
"""
LOOK_S = 0.1
"""[s] between two searches for new sockets."""
TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT = 18, 25
"""Socket options of Linux, in milliseconds and in bytes."""
_SYN_SENT = 2  # state of a socket that connects and was not answered, the first byte of its TCP_INFO
_OPEN = Path("/proc/self/fd")


class TcpSockets:
    """The TCP sockets of this process, listening ones included; on Linux only."""

    def __init__(self, answered_within_s: float) -> None:
        """Take how long to wait for an answer to an attempt to connect [s].

        Linux repeats an attempt after 1 s, then after 2 s. If it is given up before, Zenoh makes another one,
        and a cable that is back is noticed sooner.
        """
        self._answered_within_s = answered_within_s
        self._connecting: dict[str, float] = {}
        """When each socket that connects was first seen [s, monotonic], by its name in `_OPEN`."""

    def set_up(self) -> int:
        """Set the options of all sockets, and end attempts to connect that were not answered.

        Returns:
            Number of the sockets.
        """
        found, before, self._connecting = 0, self._connecting, {}
        for number in os.listdir(_OPEN):
            with contextlib.suppress(OSError):  # it was closed meanwhile, or is not a socket
                name = os.readlink(_OPEN / number)
                if not name.startswith("socket:"):
                    continue
                with socket.socket(fileno=os.dup(int(number))) as one:
                    if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
                        found += 1
                        one.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, round(1e3 * SILENT_S))
                        one.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES)
                        self._watch(one, name, before)
        return found

    def _watch(self, one: socket.socket, name: str, before: dict[str, float]) -> None:
        """End an attempt to connect that was first seen too long ago."""
        if one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _SYN_SENT:
            return
        now = time.monotonic()
        since = self._connecting[name] = before.get(name, now)
        if now - since >= self._answered_within_s:
            one.shutdown(socket.SHUT_RDWR)

    def keep_set_up(self, stopped: threading.Event) -> None:
        """Repeat `set_up` for links that open later, until `stopped` is set."""
        while sys.platform == "linux" and not stopped.wait(LOOK_S):
            self.set_up()
