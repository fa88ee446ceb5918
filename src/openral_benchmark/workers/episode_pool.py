"""The processes that run a suite: workers with simulators, and processes with the policy, each shared by some workers.

A worker is assigned episodes of one scene and reports event by event. While a worker is replaced the others go on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.episode_worker import Assignment, EpisodeWorker
from openral_benchmark.workers.events import Event, Failed, Finished, TimedOut, WorkerLost
from openral_benchmark.workers.policy_host import PolicyHost
from openral_benchmark.workers.worker import END_S, Launcher, WorkerHandle
from openral_core.errors import InstallationError, PolicyError
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.rollout import EpisodeJob

MAX_FAILED_STARTS = 20
"""Workers that may end before their first assignment: nodes of a cluster come and go, but on one without openral no
worker ever starts."""


@dataclass
class _Member:
    handle: WorkerHandle
    busy: bool = False
    load: int = 0
    """`_PolicyProcess.load` when its present work was assigned."""


@dataclass
class _PolicyProcess:
    handle: WorkerHandle
    load: int = 1
    """How often this policy process was started."""


class EpisodePool:
    """Workers 0 to size - 1; worker w asks policy process w % policies. Not thread-safe."""

    def __init__(
        self,
        launcher: Launcher,
        source: PolicySource,
        size: int,
        *,
        policies: int,
        num_envs: int,
        patience_s: float,
    ) -> None:
        """Start all processes and wait until the first of them has loaded the policy.

        Args:
            launcher: starts them; is closed with the pool.
            source: of the policy.
            size: number of workers.
            policies: number of processes with the policy, at most `size`.
            num_envs: most environments of a worker.
            patience_s: [s] timeout of a request to the policy.

        Raises:
            PolicyError: the policy cannot be loaded.
        """
        self.size, self.policies = size, policies
        """Numbers of workers and of processes with the policy."""
        self._launcher, self._source = launcher, source
        self._arguments = source.package().manifest, num_envs, patience_s
        self._failed_starts = 0
        self._members: list[_Member] = []
        self._policies: list[_PolicyProcess] = []
        try:
            self._policies += [_PolicyProcess(self._start_policy(number)) for number in range(policies)]
            self._members += [self._start_worker(number) for number in range(size)]
            with _policy_loads():
                self._policies[0].handle.wait_until_started()
        except BaseException:
            self.close()
            raise

    @property
    def policy_loads(self) -> int:
        """How often the policy was loaded, in all processes."""
        return sum(policy.load for policy in self._policies)

    def ready(self, worker: int) -> bool:
        """Return whether an idle worker can be assigned work: its process has started, and its policy is loaded."""
        return self._members[worker].handle.started and self._policy_of(worker).handle.started

    def assign(self, worker: int, scene: BenchmarkScene, jobs: Sequence[EpisodeJob]) -> None:
        """Assign episodes of one scene to an idle worker."""
        member, policy = self._members[worker], self._policy_of(worker)
        member.busy, member.load = True, policy.load
        member.handle.send(Assignment(scene, tuple(jobs), policy.handle.peer()))
        member.handle.send(None)  # one request ahead, so that the worker does not wait for the engine

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        """Return the workers' events, by number of the worker; wait for the first at most `timeout_s`.

        Raises:
            PolicyError: one of the processes could not load the policy.
        """
        numbers = {m.handle: number for number, m in enumerate(self._members) if m.handle.pending}
        loading = [policy.handle for policy in self._policies if not policy.handle.started]
        ready = self._launcher.wait([*numbers, *loading], timeout_s)
        for handle in loading:
            if handle in ready:
                with _policy_loads():
                    handle.wait_until_started()
        found = [
            (numbers[handle], self._next_event(numbers[handle])) for handle in ready if handle in numbers
        ]
        return [(number, event) for number, event in found if event is not None]

    def replace_worker(self, worker: int) -> None:
        """Kill a worker with its simulator, and start another in its place."""
        self._members[worker].handle.join(0.0)
        self._members[worker] = self._start_worker(worker)

    def replace_policy(self, worker: int) -> None:
        """Restart a worker's policy process, unless that was done since the worker's present assignment.

        Raises:
            PolicyError: it cannot be loaded.
        """
        policy = self._policy_of(worker)
        if self._members[worker].load == policy.load:
            policy.handle.join(0.0)
            policy.handle = self._start_policy(worker % self.policies)
            policy.load += 1
            with _policy_loads():
                policy.handle.wait_until_started()

    def close(self) -> None:
        """End all processes; those that are at work are killed."""
        idle = [member.handle for member in self._members if not member.busy]
        for handle in [*idle, *(policy.handle for policy in self._policies)]:
            handle.close()
        for member in self._members:
            member.handle.join(0.0 if member.busy else END_S)
        for policy in self._policies:
            policy.handle.join(END_S if policy.handle.started else 0.0)
        self._launcher.close()

    def _next_event(self, number: int) -> Event | None:
        """Return a worker's event, if there is one, and request the next one while it has work."""
        member = self._members[number]
        if not member.handle.poll(0.0):
            return None  # only the worker's start was reported
        try:
            event: Event | None = member.handle.receive(END_S)
        except EOFError:
            how = member.handle.join(END_S)
            if member.busy:
                member.busy = False
                return WorkerLost(f"the worker ended with {how}")
            self._failed_start(number, how)
            return None
        if isinstance(event, (Finished, Failed, TimedOut, WorkerLost)):
            member.busy = False
        elif event is not None:
            member.handle.send(None)
        return event

    def _failed_start(self, number: int, how: str) -> None:
        """Replace a worker that ended without an assignment."""
        self._failed_starts += 1
        if self._failed_starts > MAX_FAILED_STARTS:
            raise InstallationError(f"workers do not start on {self._launcher.where}: {how}")
        self.replace_worker(number)

    def _policy_of(self, worker: int) -> _PolicyProcess:
        return self._policies[worker % self.policies]

    def _start_policy(self, number: int) -> WorkerHandle:
        return self._launcher.start("policy", number, PolicyHost, self._source)

    def _start_worker(self, number: int) -> _Member:
        return _Member(self._launcher.start("episodes", number, EpisodeWorker, *self._arguments))


@contextlib.contextmanager
def _policy_loads() -> Iterator[None]:
    """Add to errors of the block that the policy could not be loaded."""
    try:
        yield
    except EOFError as error:
        raise PolicyError("the policy could not be loaded: its process died while it loaded") from error
    except PolicyError as error:
        raise PolicyError(f"the policy could not be loaded: {error}") from error
