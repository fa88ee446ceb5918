"""Events that a worker reports while it runs an assignment, and the errors of the policy's process."""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.errors import PolicyError
from openral_sim_bridge.rollout import Round


@dataclass(frozen=True)
class Started:
    """The simulator is open; from now on the worker's events have a deadline."""


@dataclass(frozen=True)
class Finished:
    """All episodes have ended."""

    total_s: float
    """[s] since the simulator was open."""
    inferred_s: float
    """[s] of it in which the policy inferred for this worker."""
    asked_s: float
    """[s] of it between requests to the policy and answers; what exceeds `inferred_s` is queueing and transport."""


@dataclass(frozen=True)
class Failed:
    """The simulator or the policy raised an error; the episodes that were running have no result."""

    reason: str
    simulator_usable: bool = False
    """Whether the simulator can be used again, since the error was the policy's."""


@dataclass(frozen=True)
class TimedOut:
    """The policy did not answer in time."""

    reason: str


@dataclass(frozen=True)
class WorkerLost:
    """A process ended unexpectedly, which is not counted as a failure of its episodes."""

    reason: str
    policy: bool = False
    """Whether it was the policy's process, and not the worker's."""


Event = Started | Round | Finished | Failed | TimedOut | WorkerLost
"""The last four end an assignment."""


class PolicyTimedOut(PolicyError):
    """The policy did not answer in time."""


class PolicyLost(PolicyError):
    """The policy's process ended."""
