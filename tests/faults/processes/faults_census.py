"""What processes hold of the machine, so that a test can say what they left behind."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

MEMORY = "/dev/shm/"
SHARED = (MEMORY, "/run/", "/tmp/")
"""Where sockets and shared memory live that outlast a process that forgets them."""


@dataclass(frozen=True)
class Census:
    """What a set of processes holds."""

    processes: int
    threads: int
    descriptors: int
    rss_mb: float
    """[MiB] resident memory of all."""
    ports: frozenset[tuple[str, int]]
    """Addresses at which they take connections or datagrams."""
    files: frozenset[str]
    """Shared memory and Unix sockets that they have open or mapped."""


def census(processes: Iterable[psutil.Process]) -> Census:
    """Count what processes hold now; those that end meanwhile hold nothing."""
    count = threads = descriptors = 0
    rss, ports, files = 0.0, set(), set()
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            rss += process.memory_info().rss / 2**20
            threads += process.num_threads()
            descriptors += process.num_fds()
            ports |= {
                tuple(each.laddr) for each in process.net_connections("inet") if each.laddr and not each.raddr
            }
            files |= {each.laddr for each in process.net_connections("unix") if each.laddr}
            files |= {path for path in mapped(process.pid) if path.startswith(MEMORY)}
            count += 1
    lasting = frozenset(str(path) for path in files if str(path).startswith(SHARED))
    return Census(count, threads, descriptors, rss, frozenset(ports), lasting)


def mapped(pid: int) -> set[str]:
    """Return the files that a process has mapped into its memory."""
    lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if line.count(" ") >= 5 and "/" in line}


def left_behind(before: Census) -> list[str]:
    """Return which Unix sockets and other files of processes that have ended still exist; shared memory is apart."""
    return sorted(path for path in before.files if not path.startswith(MEMORY) and os.path.exists(path))


def memory_left_behind(before: Census) -> list[str]:
    """Return which shared memory of processes that have ended still exists, what this process uses left out."""
    mine = mapped(os.getpid())
    return sorted(path for path in before.files - mine if path.startswith(MEMORY) and os.path.exists(path))


def own() -> tuple[int, list[str]]:
    """Return how many threads the test's own process has, and what its descriptors lead to.

    Shared memory is left out, which Zenoh keeps for every process that it has ever met; `memory_left_behind` speaks of
    that.
    """
    targets = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            targets.append(os.readlink(f"/proc/self/fd/{number}"))
    return threading.active_count(), sorted(target for target in targets if not target.startswith(MEMORY))
