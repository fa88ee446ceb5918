"""Sets up the TCP sockets of this process for links to other machines; Zenoh has no settings for that."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from pathlib import Path

UNSENT_BYTES = 65536
"""What the system keeps of a link that is not on its way yet. It is sent in the order in which it came,
so that a stop waits for all of it; Linux lets it grow to 4 MB. What is on its way is not limited."""
SILENT_S = 10.0
"""[s] after which a link is given up whose other end acknowledges nothing; as long as Zenoh bears silence.
Else Zenoh waits for what it sent last, takes a new link for one more of the dead one, and closes both."""
LOOK_S = 0.2
"""[s] between two looks for new sockets."""
TCP_USER_TIMEOUT, TCP_NOTSENT_LOWAT = 18, 25
"""Options of Linux, in milliseconds and bytes."""
_OPEN = Path("/proc/self/fd")


def set_up() -> int:
    """Set the options of every TCP socket of this process, also of those that listen; return how many."""
    found = 0
    for name in os.listdir(_OPEN):
        with contextlib.suppress(OSError, FileNotFoundError):  # it was closed meanwhile, or is no socket
            if not os.readlink(_OPEN / name).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as one:
                if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
                    one.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, round(1e3 * SILENT_S))
                    one.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES)
                    found += 1
    return found


def keep_set_up(stopped: threading.Event) -> None:
    """Do it again and again, for links that open later, until told to stop; on Linux only."""
    while sys.platform == "linux" and not stopped.wait(LOOK_S):
        set_up()
