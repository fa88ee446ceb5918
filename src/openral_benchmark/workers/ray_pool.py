"""A pool of actors on a Ray cluster: one with the policy, and workers with worlds on every node.

openral, and whatever the scenes need, is installed on the nodes; a skill that is no download has to be at the same path
where the policy runs. A worker whose node is gone is asked for anew and waits until the cluster has room for it; the
others go on.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.episode_worker import EpisodeWorker
from openral_benchmark.workers.policy_link import Operation, PolicyLink, Reply, answer, reason
from openral_benchmark.workers.ray_cluster import join, kill
from openral_benchmark.workers.worker_pool import (
    Event,
    Failed,
    Finished,
    PolicyLost,
    PolicyTimedOut,
    TimedOut,
    WorkerLost,
)
from openral_core.errors import InstallationError, PolicyError
from openral_core.manifest import RSkillManifest
from openral_core.scene import BenchmarkScene
from openral_core.types import PolicyBatch
from openral_sim_bridge.rollout import Job

POLL_S = 2.0
"""How long a worker keeps a question for news open before it answers that there are none [s]."""

FALSE_STARTS = 20
"""Workers that may end before they had anything to do: nodes come and go, but one without openral never serves."""


class PolicyActor:
    """Loads the policy when it is made; Ray hands it one request after the other."""

    def __init__(self, source: PolicySource) -> None:
        self._error = ""
        try:
            self._policy = source.load()
        except Exception as error:  # noqa: BLE001  the engine says it
            self._error = reason(error)

    def ready(self) -> str:
        """Return why the policy could not be loaded, or ""."""
        return self._error

    def ask(self, operation: Operation, data: Any) -> Reply:
        """See `policy_link.answer`."""
        if isinstance(data, PolicyBatch):  # Ray's arrays lie in shared memory and cannot be written to
            images = {name: np.array(image) for name, image in data.images.items()}
            data = replace(data, images=images, state=np.array(data.state))
        return answer(self._policy, operation, data)


class WorkerActor:
    """Runs episodes in a thread that keeps its simulator, and is asked for news in between."""

    def __init__(self, manifest: RSkillManifest, num_envs: int, patience_s: float) -> None:
        self._episode_worker, self._patience_s = EpisodeWorker(manifest, num_envs), patience_s
        self._given: queue.Queue[tuple[BenchmarkScene, Sequence[Job], Any]] = queue.Queue()
        self._told: queue.Queue[Event] = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def ready(self) -> None:
        """Say that there is a place for it, by answering."""

    def assign(self, scene: BenchmarkScene, jobs: Sequence[Job], policy: Any) -> None:
        """Begin with episodes of one scene, and the actor of their policy."""
        self._given.put((scene, jobs, policy))

    def news(self) -> list[Event]:
        """Return what happened since the last question; waits a little for it."""
        try:
            told = [self._told.get(timeout=POLL_S)]
        except queue.Empty:
            return []
        with contextlib.suppress(queue.Empty):
            while True:
                told.append(self._told.get_nowait())
        return told

    def _work(self) -> None:
        while True:
            scene, jobs, policy = self._given.get()
            link = PolicyLink(_ActorAsk(policy, self._patience_s))
            for event in self._episode_worker.run(scene, jobs, link):
                self._told.put(event)


class _ActorAsk:
    """See `policy_link.Ask`."""

    def __init__(self, policy: Any, patience_s: float) -> None:
        self._policy, self._patience_s = policy, patience_s

    def __call__(self, operation: Operation, data: Any) -> Reply:
        try:
            reply: Reply = ray.get(self._policy.ask.remote(operation, data), timeout=self._patience_s)
        except GetTimeoutError as why:
            raise PolicyTimedOut.for_seconds(self._patience_s) from why
        except RayError as why:
            raise PolicyLost(f"the policy's actor is gone ({type(why).__name__})") from why
        return reply


@dataclass
class _WorkerProcess:
    actor: Any
    pending: Any
    """What it was asked last and has not answered: whether it is there, or what there is new."""
    there: bool = False
    busy: bool = False
    policy: int = 0
    """Which policy its present work goes to, counted from 1."""


class RayWorkerPool:
    """See `pool.WorkerPool`."""

    def __init__(
        self,
        cluster: str,
        source: PolicySource,
        workers: int | None,
        *,
        most: int,
        num_envs: int,
        patience_s: float,
    ) -> None:
        """Join a cluster, start everybody and wait until the policy is loaded.

        Args:
            cluster: `auto`, the one that this machine belongs to, or RAY_ADDRESS names; or `ray://host:port`.
            source: of the policy.
            workers: how many; None: one a core of the cluster, but for the policy's.
            most: the most there is work for.
            num_envs: worlds of each.
            patience_s: [s] after which a policy that does not answer is given up.

        Raises:
            InstallationError: no such cluster answers.
            PolicyError: the policy cannot be loaded.
        """
        self._own = join(cluster, "--cluster")
        self._source, self._num_envs, self._patience_s = source, num_envs, patience_s
        self._manifest = source.package().manifest
        cores = int(ray.cluster_resources().get("CPU", 1.0))
        self.size, self.policy_loads = min(workers or max(1, cores - 1), most), 0
        self._started_in_vain = 0
        self._workers: list[_WorkerProcess] = []
        self._policy: Any = None
        try:
            self._load_policy()
            self._workers += [self._start_worker() for _ in range(self.size)]
        except BaseException:
            self.close()
            raise

    def ready(self, worker: int) -> bool:
        """See WorkerPool.ready."""
        return self._workers[worker].there

    def assign(self, worker: int, scene: BenchmarkScene, jobs: Sequence[Job]) -> None:
        """See WorkerPool.assign."""
        member = self._workers[worker]
        member.busy, member.policy = True, self.policy_loads
        member.actor.assign.remote(scene, tuple(jobs), self._policy)
        member.pending = member.actor.news.remote()

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        """See WorkerPool.events."""
        waiting = {m.pending: index for index, m in enumerate(self._workers) if m.pending is not None}
        done, _ = ray.wait(list(waiting), num_returns=1, timeout=timeout_s)
        told: list[tuple[int, Event]] = []
        for reference in done:
            told += [(waiting[reference], event) for event in self._news(waiting[reference])]
        return told

    def replace_worker(self, worker: int) -> None:
        """See WorkerPool.replace_worker."""
        kill(self._workers[worker].actor)
        self._workers[worker] = self._start_worker()

    def replace_policy(self, worker: int) -> None:
        """See WorkerPool.replace_policy."""
        if self._workers[worker].policy == self.policy_loads:
            kill(self._policy)
            self._load_policy()

    def close(self) -> None:
        """See WorkerPool.close."""
        for actor in [self._policy, *(member.actor for member in self._workers)]:
            if actor is not None:
                kill(actor)
        if self._own:
            ray.shutdown()

    def _news(self, worker: int) -> list[Event]:
        """Take what a worker answered, and ask it again while it has work."""
        member = self._workers[worker]
        reference, member.pending = member.pending, None
        try:
            told: list[Event] = ray.get(reference) or []
        except RayError as error:
            if not member.busy:  # nothing is lost with it
                self._started_in_vain += 1
                if self._started_in_vain > FALSE_STARTS:
                    raise InstallationError(
                        f"workers do not start on the cluster's nodes: {error}"
                    ) from error
                self.replace_worker(worker)
                return []
            told = [WorkerLost(f"the worker's actor is gone ({type(error).__name__})")]
        member.there = True
        if told and isinstance(told[-1], (Finished, Failed, TimedOut, WorkerLost)):
            member.busy = False
        if member.busy:
            member.pending = member.actor.news.remote()
        return told

    def _load_policy(self) -> None:
        self.policy_loads += 1
        if self._source.device.startswith("cuda"):
            place: dict[str, Any] = {"num_gpus": 1}
        else:  # where the command runs, since there the skill is
            here = ray.get_runtime_context().get_node_id()
            place = {"scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=True)}
        self._policy = ray.remote(PolicyActor).options(num_cpus=1, **place).remote(self._source)
        try:
            fault: str = ray.get(self._policy.ready.remote())
        except RayError as error:
            fault = f"its actor ended ({type(error).__name__})"
        if fault:
            raise PolicyError(f"the policy could not be loaded: {fault}")

    def _start_worker(self) -> _WorkerProcess:
        made = ray.remote(WorkerActor).options(num_cpus=1, scheduling_strategy="SPREAD", max_concurrency=1)
        actor = made.remote(self._manifest, self._num_envs, self._patience_s)
        return _WorkerProcess(actor, actor.ready.remote())
