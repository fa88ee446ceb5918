"""Worker processes that end with the process that asked for them, however it ends."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait

from openral_core.errors import SimulationError
from openral_sim_bridge.rendering.opengl import RASTERISER_VARIABLE, rasteriser_threads

_spawn = multiprocessing.get_context("spawn")


@contextlib.contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of fresh interpreters (no forked OpenGL contexts).

    When the block ends normally, all work has been done. When it ends with an exception, Ctrl-C included, work that has
    not begun is dropped and the running processes are terminated.

    Args:
        workers: number of processes; one for each core is best.

    Raises:
        SimulationError: one of them was killed, or crashed in a library; the whole pool is lost then.
    """
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(
        workers,
        mp_context=_spawn,
        initializer=_begin,
        initargs=(rasteriser_threads(workers, cores()),),
    )
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            if worker not in others:
                worker.terminate()
        if not isinstance(error, BrokenProcessPool):
            raise
        raise SimulationError(
            f"a worker process, one of {workers}, was killed or crashed; the system kills one where memory runs out "
            "(`dmesg` says so): take fewer --workers"
        ) from error
    pool.shutdown()


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
    outlive_interrupts()
    watch_parent()


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        # The queues of a killed parent never close, so nothing softer ends a worker that waits on them.
        os._exit(1)
