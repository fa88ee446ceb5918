"""The processes that run a suite: workers with simulators, and one policy that they share.

A worker is given episodes of one scene and tells what becomes of them, event by event. One that is replaced waits
until there is room for it; the others go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openral_benchmark.policy_source import PolicySource
from openral_benchmark.workers.episode_worker import Assignment, EpisodeWorker
from openral_benchmark.workers.events import Event, Failed, Finished, TimedOut, WorkerLost
from openral_benchmark.workers.policy_host import PolicyHost
from openral_benchmark.workers.worker import END_S, Launcher, WorkerHandle
from openral_core.errors import InstallationError, PolicyError
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.rollout import EpisodeJob

FALSE_STARTS = 20
"""Workers that may end before they had anything to do: nodes come and go, but one without openral never serves."""


@dataclass
class _Member:
    handle: WorkerHandle
    busy: bool = False
    policy: int = 0
    """Number of the policy that its present work goes to."""


class EpisodePool:
    """Workers 0 to size - 1 and a policy. The engine asks from one thread."""

    def __init__(
        self, launcher: Launcher, source: PolicySource, size: int, *, num_envs: int, patience_s: float
    ) -> None:
        """Start all processes and wait until the policy is loaded.

        Args:
            launcher: starts them; is closed with the pool.
            source: of the policy.
            size: how many workers.
            num_envs: worlds of each.
            patience_s: [s] after which a policy that does not answer is given up.

        Raises:
            PolicyError: the policy cannot be loaded.
        """
        self.size, self.policy_loads = size, 0
        """How many workers there are; how often the policy was loaded."""
        self._launcher, self._source = launcher, source
        self._arguments = source.package().manifest, num_envs, patience_s
        self._false_starts = 0
        self._members: list[_Member] = []
        self._policy = self._start_policy()
        try:
            self._members += [self._start_worker(number) for number in range(size)]
            self._wait_for_policy()
        except BaseException:
            self.close()
            raise

    def ready(self, worker: int) -> bool:
        """Return whether an idle worker can be given work; one that was replaced may have to wait for its place."""
        return self._members[worker].handle.started

    def assign(self, worker: int, scene: BenchmarkScene, jobs: Sequence[EpisodeJob]) -> None:
        """Give an idle worker episodes of one scene."""
        member = self._members[worker]
        member.busy, member.policy = True, self.policy_loads
        member.handle.send(Assignment(scene, tuple(jobs), self._policy.peer()))
        member.handle.send(None)  # always one question ahead, so that no worker waits for the engine

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        """Return what workers told, waiting at most so long for the first of it."""
        numbers = {m.handle: number for number, m in enumerate(self._members) if m.handle.pending}
        ready = self._launcher.wait(list(numbers), timeout_s)
        found = [(numbers[handle], self._next_event(numbers[handle])) for handle in ready]
        return [(number, event) for number, event in found if event is not None]

    def replace_worker(self, worker: int) -> None:
        """End a worker, hanging or dead, with its simulator, and start another in its place."""
        self._members[worker].handle.join(0.0)
        self._members[worker] = self._start_worker(worker)

    def replace_policy(self, worker: int) -> None:
        """Load the policy anew, unless that was done since this worker was given its present episodes.

        Raises:
            PolicyError: it cannot be loaded.
        """
        if self._members[worker].policy == self.policy_loads:
            self._policy.join(0.0)
            self._policy = self._start_policy()
            self._wait_for_policy()

    def close(self) -> None:
        """End all processes, those that are at work by force."""
        handles = [member.handle for member in self._members if not member.busy]
        for handle in [*handles, self._policy]:
            handle.close()
        for member in self._members:
            member.handle.join(0.0 if member.busy else END_S)
        self._policy.join()
        self._launcher.close()

    def _next_event(self, number: int) -> Event | None:
        """Return what a worker told, if it told anything, and ask it again while it has work."""
        member = self._members[number]
        if not member.handle.poll(0.0):
            return None  # it has been made
        try:
            event: Event | None = member.handle.receive(END_S)
        except EOFError:
            how = member.handle.join(END_S)
            if member.busy:
                member.busy = False
                return WorkerLost(f"the worker ended with {how}")
            self._false_start(number, how)
            return None
        if isinstance(event, (Finished, Failed, TimedOut, WorkerLost)):
            member.busy = False
        elif event is not None:
            member.handle.send(None)
        return event

    def _false_start(self, number: int, how: str) -> None:
        """Replace a worker that ended before it had anything to do; nothing is lost with it."""
        self._false_starts += 1
        if self._false_starts > FALSE_STARTS:
            raise InstallationError(f"workers do not start on {self._launcher.where}: {how}")
        self.replace_worker(number)

    def _start_policy(self) -> WorkerHandle:
        self.policy_loads += 1
        return self._launcher.start("policy", 0, PolicyHost, self._source)

    def _wait_for_policy(self) -> None:
        try:
            self._policy.wait_until_started()
        except EOFError as error:
            raise PolicyError("the policy could not be loaded: its process died while it loaded") from error
        except PolicyError as error:
            raise PolicyError(f"the policy could not be loaded: {error}") from error

    def _start_worker(self, number: int) -> _Member:
        return _Member(self._launcher.start("episodes", number, EpisodeWorker, *self._arguments))
