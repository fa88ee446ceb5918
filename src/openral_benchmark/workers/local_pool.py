"""A pool of processes on this machine: one for the policy, one for each worker.

A worker that dies is seen by its pipe, one that hangs is killed by the engine; both end with the process that started
them, as do the simulators that have processes of their own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, cast

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.episode_worker import EpisodeWorker
from openral_benchmark.workers.parent_watch import cores, outlive_interrupts, watch_parent
from openral_benchmark.workers.policy_host import SocketAsk, host
from openral_benchmark.workers.policy_link import PolicyLink
from openral_benchmark.workers.worker_pool import Event, Failed, Finished, TimedOut, WorkerLost
from openral_core.errors import PolicyError
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.rollout import Job

_spawn = multiprocessing.get_context("spawn")
END_S = 10.0
"""How long a process may take to end by itself when its pipe closes [s]."""


@dataclass
class _WorkerProcess:
    process: SpawnProcess
    pipe: Connection
    busy: bool = False
    policy: int = 0
    """Which policy its present work goes to, counted from 1."""

    def end(self, patience_s: float) -> None:
        """Close the pipe and wait; then kill."""
        self.pipe.close()
        self.process.join(patience_s)
        self.process.kill()
        self.process.join()


class LocalWorkerPool:
    """See `pool.WorkerPool`."""

    def __init__(self, source: PolicySource, size: int, *, num_envs: int, patience_s: float) -> None:
        """Start everybody and wait until the policy is loaded.

        Args:
            source: of the policy.
            size: how many workers.
            num_envs: worlds of each.
            patience_s: [s] after which a policy that does not answer is given up.

        Raises:
            PolicyError: the policy cannot be loaded.
        """
        self.size, self.policy_loads = size, 0
        self._source, self._num_envs, self._patience_s = source, num_envs, patience_s
        self._folder = tempfile.mkdtemp(prefix="openral-")
        self._workers: list[_WorkerProcess] = []
        self._policy = self._start_policy()
        try:
            self._workers += [self._start_worker() for _ in range(size)]
            self._until_loaded()
        except BaseException:
            self.close()
            raise

    def ready(self, worker: int) -> bool:
        """See WorkerPool.ready."""
        return True

    def assign(self, worker: int, scene: BenchmarkScene, jobs: Sequence[Job]) -> None:
        """See WorkerPool.assign."""
        member = self._workers[worker]
        member.busy, member.policy = True, self.policy_loads
        with contextlib.suppress(OSError):  # it died while it was idle; `events` says so
            member.pipe.send((self._address(), scene, tuple(jobs)))

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        """See WorkerPool.events."""
        pipes = {member.pipe: index for index, member in enumerate(self._workers) if member.busy}
        ready = cast("list[Connection]", wait(list(pipes), timeout_s))
        told = [(pipes[pipe], _next_event(self._workers[pipes[pipe]])) for pipe in ready]
        for index, event in told:
            self._workers[index].busy = not isinstance(event, (Finished, Failed, TimedOut, WorkerLost))
        return told

    def replace_worker(self, worker: int) -> None:
        """See WorkerPool.replace_worker."""
        self._workers[worker].end(0.0)
        self._workers[worker] = self._start_worker()

    def replace_policy(self, worker: int) -> None:
        """See WorkerPool.replace_policy."""
        if self._workers[worker].policy == self.policy_loads:
            self._policy.end(0.0)
            self._policy = self._start_policy()
            self._until_loaded()

    def close(self) -> None:
        """See WorkerPool.close."""
        for member in self._workers:
            if member.busy:
                member.process.kill()
        for member in self._workers:
            member.end(END_S)
        self._policy.end(END_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _address(self) -> str:
        return os.path.join(self._folder, f"policy-{self.policy_loads}")

    def _start_policy(self) -> _WorkerProcess:
        self.policy_loads += 1
        # A quarter of the cores, whoever else works: rows must not depend on the number of workers.
        return _start(host, self._source, self._address(), threads=max(1, cores() // 4))

    def _until_loaded(self) -> None:
        wait([self._policy.pipe, self._policy.process.sentinel])
        try:
            error = (
                self._policy.pipe.recv() if self._policy.pipe.poll() else "its process died while it loaded"
            )
        except EOFError:
            error = "its process died while it loaded"
        if error:
            raise PolicyError(f"the policy could not be loaded: {error}")

    def _start_worker(self) -> _WorkerProcess:
        return _start(work, self._source, self._num_envs, self._patience_s, threads=1)


def _next_event(member: _WorkerProcess) -> Event:
    try:
        event: Event = member.pipe.recv()
    except (EOFError, OSError):
        member.process.join(END_S)
        return WorkerLost(f"the worker ended with exit code {member.process.exitcode}")
    return event


def _start(body: Any, *arguments: Any, threads: int) -> _WorkerProcess:
    """Start a process whose first argument is its end of a pipe."""
    ours, theirs = _spawn.Pipe()
    process = _spawn.Process(target=body, args=(theirs, *arguments), daemon=True)
    with _threads(threads):
        process.start()
    theirs.close()
    return _WorkerProcess(process, ours)


@contextlib.contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let processes that start now use so many threads for arithmetic, unless the user said how many."""
    if "OMP_NUM_THREADS" in os.environ:
        yield
        return
    os.environ["OMP_NUM_THREADS"] = str(count)
    try:
        yield
    finally:
        del os.environ["OMP_NUM_THREADS"]


def work(pipe: Connection, source: PolicySource, num_envs: int, patience_s: float) -> None:
    """Body of a worker: run what comes through the pipe until it closes."""
    outlive_interrupts()
    watch_parent()
    worker = EpisodeWorker(source.package().manifest, num_envs)
    ask = SocketAsk("", patience_s)
    with contextlib.suppress(EOFError, OSError):
        while True:
            address, scene, jobs = pipe.recv()
            if address != ask.address:
                ask.close()
                ask = SocketAsk(address, patience_s)
            for event in worker.run(scene, jobs, PolicyLink(ask)):
                pipe.send(event)
    worker.close()
