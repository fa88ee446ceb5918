"""Starts the processes of `runtime_peer.py` and talks to them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from system_stack import next_domain

PROGRAM = Path(__file__).with_name("runtime_peer.py")


class Peer:
    """One process: `tell` it something, `hear` its next answer."""

    def __init__(self, role: str, domain: int, kind: str) -> None:
        """Start it."""
        command = [sys.executable, str(PROGRAM), role, str(domain), kind]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, command: str) -> None:
        """Send a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Wait for the next answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"{self.process.args} ended with {self.process.wait()}"
        return json.loads(line)

    def ask(self, command: str) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.tell(command)
        return self.hear()

    def end(self) -> None:
        """Close its input, which ends it; a process that hangs is killed."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def pair(receiver: str, sender: str, kind: str = "-") -> Iterator[tuple[Peer, Peer]]:
    """Two processes that have found each other: who receives or serves, and who sends or calls."""
    domain = next_domain()
    with ExitStack() as stack:
        peers = []
        for role in (receiver, sender):
            peers.append(Peer(role, domain, kind))
            stack.callback(peers[-1].end)
        assert all(peer.hear() == {"ready": True} for peer in peers)
        yield peers[0], peers[1]
