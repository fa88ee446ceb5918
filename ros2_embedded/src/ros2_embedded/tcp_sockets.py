"""Sets options of this process's TCP sockets for links to other machines, for which Zenoh has no settings."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
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
LOOK_S = 0.2
"""[s] between two searches for new sockets."""
TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT = 18, 25
"""Socket options of Linux, in milliseconds and in bytes."""
_OPEN = Path("/proc/self/fd")


def set_up() -> int:
    """Set the options of all TCP sockets of this process, listening ones included; return their number."""
    found = 0
    for name in os.listdir(_OPEN):
        with contextlib.suppress(OSError, FileNotFoundError):  # it was closed meanwhile, or is not a socket
            if not os.readlink(_OPEN / name).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as one:
                if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
                    one.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, round(1e3 * SILENT_S))
                    one.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES)
                    found += 1
    return found


def keep_set_up(stopped: threading.Event) -> None:
    """Repeat `set_up` for links that open later, until `stopped` is set; on Linux only."""
    while sys.platform == "linux" and not stopped.wait(LOOK_S):
        set_up()
