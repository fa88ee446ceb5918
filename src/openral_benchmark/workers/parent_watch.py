"""Worker processes that end with the process that asked for them, however it ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait

from openral_sim_bridge.rendering.opengl import RASTERISER_VARIABLE, rasteriser_threads


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of fresh interpreters (no forked OpenGL contexts), to be used as a context manager.

    Args:
        workers: processes; one a core is best.
    """
    return ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(rasteriser_threads(workers, cores()),),
    )


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def outlive_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to every process of a command, to the one that started this worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def watch_parent() -> None:
    """End this worker process when the one that started it ends, however it ends."""
    threading.Thread(target=_watch_parent, name="parent watch", daemon=True).start()


def _begin(threads: str) -> None:
    """Begin a process of a pool, which draws with so many further threads unless the user said how many."""
    os.environ.setdefault(RASTERISER_VARIABLE, threads)
    watch_parent()


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        # The queues of a killed parent never close, so nothing softer ends a worker that waits on them.
        os._exit(1)
