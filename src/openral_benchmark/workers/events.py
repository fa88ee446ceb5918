"""What a worker tells of the episodes that it was given, and the errors of the policy that it asks."""

from __future__ import annotations

from dataclasses import dataclass

from openral_core.errors import PolicyError
from openral_sim_bridge.rollout import Round


@dataclass(frozen=True)
class Started:
    """The simulator is open; from now on the worker is expected to give signs of life."""


@dataclass(frozen=True)
class Finished:
    """All episodes have come to their end."""

    total_s: float
    """[s] since the simulator was open."""
    inferred_s: float
    """[s] of it in which the policy worked for this worker."""
    asked_s: float
    """[s] of it between questions to the policy and answers; what exceeds `inferred_s` is queueing and transport."""


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


class PolicyLost(PolicyError):
    """The policy's process ended."""
