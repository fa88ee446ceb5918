"""What the engine knows of those who run episodes for it: workers with worlds, and one policy that they share.

`local` makes a pool of processes, `ray_crew` one of actors on a cluster. A worker is given episodes of one scene and
tells what becomes of them, event by event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from openral_core.errors import PolicyError
from openral_core.scene import BenchmarkScene
from openral_sim_bridge.rollout import Job, Round


@dataclass(frozen=True)
class Started:
    """The simulator is open; from now on the worker is expected to give signs of life."""


@dataclass(frozen=True)
class Finished:
    """All episodes have come to their end."""


@dataclass(frozen=True)
class Failed:
    """The simulator or the policy refused; the episodes that ran have no result."""

    reason: str
    worlds_sound: bool = False
    """Whether the simulator can go on: it was the policy."""


@dataclass(frozen=True)
class TimedOut:
    """The policy did not answer in time."""

    reason: str


@dataclass(frozen=True)
class WorkerLost:
    """A process is gone that is no fault of any episode, as far as one can tell."""

    reason: str
    policy: bool = False
    """Whether it was the policy's, and not the worker's."""


Event = Started | Round | Finished | Failed | TimedOut | WorkerLost
"""The last four end what the worker was given."""


class PolicyTimedOut(PolicyError):
    """The policy did not answer in time."""

    @classmethod
    def for_seconds(cls, patience_s: float) -> PolicyTimedOut:
        """Return the error in words."""
        return cls(f"cut off: the policy was silent for {patience_s:g} s")


class PolicyLost(PolicyError):
    """The policy's process ended."""


class WorkerPool(Protocol):
    """Workers 0 to size - 1 and a policy. The engine asks from one thread."""

    @property
    def size(self) -> int:
        """How many workers there are."""
        ...

    @property
    def policy_loads(self) -> int:
        """How often the policy was loaded."""
        ...

    def ready(self, worker: int) -> bool:
        """Return whether an idle worker can be given work; one that was replaced may have to wait for its place."""
        ...

    def assign(self, worker: int, scene: BenchmarkScene, jobs: Sequence[Job]) -> None:
        """Give an idle worker episodes of one scene."""
        ...

    def events(self, timeout_s: float) -> list[tuple[int, Event]]:
        """Return what workers told, waiting at most so long for the first of it."""
        ...

    def replace_worker(self, worker: int) -> None:
        """End a worker, hanging or dead, with its simulator, and start another in its place."""
        ...

    def replace_policy(self, worker: int) -> None:
        """Load the policy anew, unless that was done since this worker was given its present episodes.

        Raises:
            PolicyError: it cannot be loaded.
        """
        ...

    def close(self) -> None:
        """End everybody."""
        ...
