"""Rollouts: episode requests in, trajectories out.

Each environment begins its next episode as soon as the last one has ended, so no batch waits for the slowest. With two
pipeline stages the environments of one are simulated while the policy decides for the other. A trajectory depends on
its request and on the policy alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_training.rl.envs.env_group import Simulators
from openral_training.rl.envs.episode_trajectory import EpisodeRequest, Trajectory
from openral_training.rl.envs.vec_env import EnvInput, EnvOutput
from openral_training.rl.policies.noise import EpisodeNoise
from openral_training.rl.policies.policy import Decision, StochasticPolicy


@dataclass
class _RunningEpisode:
    """An episode that is being run, with its decisions and outputs so far."""

    number: int
    """Index of its request."""
    request: EpisodeRequest
    noise: EpisodeNoise
    state_digest: str = ""
    observations: list[NDArray[Any]] = field(default_factory=list)
    decisions: list[tuple[NDArray[np.float32], ...]] = field(default_factory=list)
    """Tokens (C, A), log-probabilities (C, A) and values (V,)."""
    rewards: list[NDArray[np.float64]] = field(default_factory=list)
    executed: list[NDArray[np.bool_]] = field(default_factory=list)
    aborted: bool = False
    images: list[NDArray[np.uint8]] = field(default_factory=list)

    def add_output(self, output: EnvOutput) -> None:
        """Append an output of the environment."""
        self.observations.append(output.observation)
        self.state_digest = output.state_digest or self.state_digest
        self.aborted = output.aborted
        if output.image is not None:
            self.images.append(output.image)
        if output.rewards is not None and output.executed is not None:
            self.rewards.append(output.rewards)
            self.executed.append(output.executed)

    def add_decision(self, decision: Decision, row: int) -> NDArray[np.float32]:
        """Append one row of a batched decision and return its actions (C, A)."""
        self.decisions.append((decision.tokens[row], decision.logprobs[row], decision.values[row]))
        chunk: NDArray[np.float32] = decision.actions[row]
        return chunk

    def trajectory(self) -> Trajectory:
        """Return the trajectory of the episode, which must have ended."""
        tokens, logprobs, values = (np.stack(column) for column in zip(*self.decisions, strict=True))
        return Trajectory(
            self.request,
            self.state_digest,
            np.stack(self.observations[:-1]),
            self.observations[-1],
            tokens,
            logprobs,
            values,
            np.stack(self.rewards),
            np.stack(self.executed),
            self.aborted,
            images=np.stack(self.images) if self.images else np.zeros(0, np.uint8),
        )


Decide = Callable[[NDArray[Any], Sequence[EpisodeNoise]], Decision]
"""(observations (B, D), noise of each of the B episodes) -> decision"""


def exploring(policy: StochasticPolicy) -> Decide:
    """Return a function that samples a policy's actions."""

    def decide(observations: NDArray[Any], noise: Sequence[EpisodeNoise]) -> Decision:
        return policy.sample(observations, np.stack([row.next(policy.chunk) for row in noise]))

    return decide


def greedy(policy: StochasticPolicy) -> Decide:
    """Return a function that takes a policy's likeliest actions; log-probabilities and values are zeros."""

    def decide(observations: NDArray[Any], noise: Sequence[EpisodeNoise]) -> Decision:
        actions = policy.greedy(observations)
        return Decision(actions, actions, np.zeros_like(actions), np.zeros((len(actions), 1), np.float32))

    return decide


def rollout(
    simulators: Simulators,
    decide: Decide,
    requests: Sequence[EpisodeRequest],
    *,
    action_dim: int,
    correlation: float = 0.0,
    progress: Callable[[Trajectory], None] = lambda trajectory: None,
) -> list[Trajectory]:
    """Run episodes and return their trajectories in the order of the requests.

    Args:
        simulators: with environments for every task of the requests.
        decide: the policy, see `exploring` and `greedy`.
        requests: which episodes; the environments of a task run its requests in their order.
        action_dim: A, the length of an action.
        correlation: of the noise in time, see `EpisodeNoise`.
        progress: called with each trajectory as its episode ends.

    Raises:
        SimulationError: see `Simulators.collect`.
    """
    schedule = _Schedule(simulators, requests, action_dim, correlation)
    simulators.begin()
    stages = range(simulators.vec_env_spec.stages)
    busy = {stage for stage in stages if schedule.submit(stage, {})}
    while busy:
        for stage in sorted(busy):
            running = schedule.collect(stage, progress)
            chunks: dict[int, EnvInput] = {}
            if running:
                observations = np.stack([episode.observations[-1] for episode in running.values()])
                decision = decide(observations, [episode.noise for episode in running.values()])
                chunks = {
                    slot: episode.add_decision(decision, row)
                    for row, (slot, episode) in enumerate(running.items())
                }
            if not schedule.submit(stage, chunks):
                busy.remove(stage)
    return schedule.trajectories()


class _Schedule:
    """Assigns episodes to the slots of environments."""

    def __init__(
        self, simulators: Simulators, requests: Sequence[EpisodeRequest], action_dim: int, correlation: float
    ) -> None:
        self._simulators = simulators
        self._waiting: dict[str, deque[_RunningEpisode]] = {}
        """Episodes that have not begun, by task."""
        for number, request in enumerate(requests):
            noise = EpisodeNoise(request.seed, action_dim, correlation)
            self._waiting.setdefault(request.task, deque()).append(_RunningEpisode(number, request, noise))
        self._running: dict[int, _RunningEpisode] = {}
        """Episodes that are being run, by slot."""
        self._done: dict[int, Trajectory] = {}
        """Trajectories of ended episodes, by index of the request."""

    def submit(self, stage: int, chunks: dict[int, EnvInput]) -> bool:
        """Send a stage its chunks, and a request to each idle slot; return whether there was anything to send."""
        inputs: dict[int, EnvInput] = dict(chunks)
        for slot, task in self._simulators.vec_env_spec.slots(stage).items():
            if slot not in self._running and self._waiting.get(task):
                self._running[slot] = self._waiting[task].popleft()
                inputs[slot] = self._running[slot].request
        if inputs:
            self._simulators.submit(stage, inputs)
        return bool(inputs)

    def collect(self, stage: int, progress: Callable[[Trajectory], None]) -> dict[int, _RunningEpisode]:
        """Take a stage's outputs and return the episodes that go on, by slot."""
        outputs = self._simulators.collect(stage)
        for slot, output in outputs.items():
            episode = self._running[slot]
            episode.add_output(output)
            if output.ended:
                self._done[episode.number] = episode.trajectory()
                progress(self._done[episode.number])
                del self._running[slot]
        return {slot: self._running[slot] for slot in outputs if slot in self._running}

    def trajectories(self) -> list[Trajectory]:
        return [self._done[number] for number in sorted(self._done)]
