"""Detects another program of this machine that is connected to an arm which serves one client at a time.

Such a controller accepts a second connection but does not answer it, so that libfranka would wait for long without a
message. Programs of other machines cannot be detected.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

from openral_robot_bridge.driver import ArmError

ARM_PORT = 1337
"""TCP port of an arm, on a Franka's controller."""
RELEASE_S = 2.0
"""[s] for which a program that is ending may still hold its connection."""
_PERIOD_S = 0.1
"""[s] between two checks."""
_ESTABLISHED = "01"
"""State of an established connection in /proc/net/tcp."""
_SHOWN = 100
"""Number of characters of a program's command line that an error shows."""


def refuse_held(address: str, port: int = ARM_PORT, release_s: float = RELEASE_S) -> None:
    """Wait until no other program of this machine is connected to a controller.

    Args:
        address: of the controller.
        port: TCP port of the arm.
        release_s: [s] to wait at most.

    Raises:
        ArmError: a program, which the message names, is still connected.
    """
    until_s = time.monotonic() + release_s
    while holder := _holder(address, port):
        if time.monotonic() > until_s:
            raise ArmError(
                f"the arm at {address} is held by {holder}, and serves one program at a time; end that first, "
                "such as a deployment by Ctrl-C"
            )
        time.sleep(_PERIOD_S)


def described(process: int) -> str:
    """Return a description of a process by its id. Raises OSError if it has ended."""
    number, words = _program(process)
    return f"process {number} of this machine, `{words[:_SHOWN]}`"


def _holder(address: str, port: int) -> str:
    """Return a description of another process that is connected to a port of a host; empty: none was found."""
    inodes = _connections(address, port)
    for process in Path("/proc").glob("[0-9]*") if inodes else ():
        held = inodes & _sockets(process)
        inodes -= held
        if held and process.name != str(os.getpid()):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                return described(int(process.name))
    return "a program of another user of this machine" if inodes else ""


def _sockets(process: Path) -> set[str]:
    """Return the inodes of a process's sockets; those of another user's process cannot be read."""
    found = set()
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):  # it was closed
                found.add(os.readlink(descriptor).removeprefix("socket:[").removesuffix("]"))
    return found


def _program(process: int) -> tuple[int, str]:
    """Return id and command line of a process, or of its ancestor if `multiprocessing` started it."""
    folder = Path(f"/proc/{process}")
    words = (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()
    if "multiprocessing" not in words:
        return process, words.rpartition("bin/")[2] if words.startswith("/") else words
    parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return _program(parent)


def _connections(address: str, port: int) -> set[str]:
    """Return the inodes of this machine's established connections to a port of a host."""
    try:
        found = socket.getaddrinfo(address, port, socket.AF_INET, socket.SOCK_STREAM)
        lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    except OSError:
        return set()
    remote = {f"{socket.inet_aton(str(each[4][0]))[::-1].hex().upper()}:{port:04X}" for each in found}
    return {
        fields[9] for fields in map(str.split, lines) if fields[3] == _ESTABLISHED and fields[2] in remote
    }
