"""Attempts in, trajectories out: whoever's episode ends begins the next, and no batch waits for a slow world.

With two stages the worlds of one are simulated while the policy decides for the other. What an episode becomes depends
on its attempt and the policy alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_training.rl.envs.attempts import EpisodeRequest, Trajectory
from openral_training.rl.envs.simulators import Simulators
from openral_training.rl.envs.vec_env import EnvOutput, Order
from openral_training.rl.policies.noise import EpisodeNoise
from openral_training.rl.policies.policy import Decision, StochasticPolicy


@dataclass
class _Episode:
    """An attempt that is being run."""

    number: int
    attempt: EpisodeRequest
    noise: EpisodeNoise
    state: str = ""
    observations: list[NDArray[Any]] = field(default_factory=list)
    decisions: list[tuple[NDArray[np.float32], ...]] = field(default_factory=list)
    rewards: list[NDArray[np.float64]] = field(default_factory=list)
    executed: list[NDArray[np.bool_]] = field(default_factory=list)
    lost: bool = False
    images: list[NDArray[np.uint8]] = field(default_factory=list)

    def see(self, output: EnvOutput) -> None:
        """Take down what an order led to."""
        self.observations.append(output.observation)
        self.state = output.state or self.state
        self.lost = output.lost
        if output.image is not None:
            self.images.append(output.image)
        if output.rewards is not None and output.executed is not None:
            self.rewards.append(output.rewards)
            self.executed.append(output.executed)

    def decide(self, decision: Decision, row: int) -> NDArray[np.float32]:
        """Take down a row of a decision and return its actions."""
        self.decisions.append((decision.tokens[row], decision.logprobs[row], decision.values[row]))
        chunk: NDArray[np.float32] = decision.actions[row]
        return chunk

    def trajectory(self) -> Trajectory:
        tokens, logprobs, values = (np.stack(column) for column in zip(*self.decisions, strict=True))
        return Trajectory(
            self.attempt,
            self.state,
            np.stack(self.observations[:-1]),
            self.observations[-1],
            tokens,
            logprobs,
            values,
            np.stack(self.rewards),
            np.stack(self.executed),
            self.lost,
            np.stack(self.images) if self.images else np.zeros(0, np.uint8),
        )


Decide = Callable[[NDArray[Any], Sequence[EpisodeNoise]], Decision]
"""From observations (B, D) and the chance of their episodes to what is done."""


def exploring(policy: StochasticPolicy) -> Decide:
    """Return a policy that acts by chance."""

    def decide(observations: NDArray[Any], noise: Sequence[EpisodeNoise]) -> Decision:
        return policy.sample(observations, np.stack([row.next(policy.chunk) for row in noise]))

    return decide


def greedy(policy: StochasticPolicy) -> Decide:
    """Return a policy at its best: what it does is certain, and nobody asks what it expects."""

    def decide(observations: NDArray[Any], noise: Sequence[EpisodeNoise]) -> Decision:
        actions = policy.greedy(observations)
        return Decision(actions, actions, np.zeros_like(actions), np.zeros((len(actions), 1), np.float32))

    return decide


def rollout(
    simulators: Simulators,
    decide: Decide,
    attempts: Sequence[EpisodeRequest],
    *,
    action_dim: int,
    correlation: float = 0.0,
    progress: Callable[[Trajectory], None] = lambda trajectory: None,
) -> list[Trajectory]:
    """Run attempts and return their trajectories in the same order.

    Args:
        simulators: worlds of all tasks of the attempts.
        decide: who acts.
        attempts: what is tried; each task's own worlds take its attempts one after the other.
        action_dim: A
        correlation: see `EpisodeNoise`.
        progress: called with each trajectory that is done.

    Raises:
        SimulationError: see Simulators.
    """
    game = _Game(simulators, attempts, action_dim, correlation)
    simulators.begin()
    stages = range(simulators.vec_env_spec.stages)
    busy = {stage for stage in stages if game.submit(stage, {})}
    while busy:
        for stage in sorted(busy):
            running = game.look(stage, progress)
            chunks: dict[int, Order] = {}
            if running:
                observations = np.stack([episode.observations[-1] for episode in running.values()])
                decision = decide(observations, [episode.noise for episode in running.values()])
                chunks = {
                    slot: episode.decide(decision, row) for row, (slot, episode) in enumerate(running.items())
                }
            if not game.submit(stage, chunks):
                busy.remove(stage)
    return game.trajectories()


class _Game:
    """Which slot runs what."""

    def __init__(
        self, simulators: Simulators, attempts: Sequence[EpisodeRequest], action_dim: int, correlation: float
    ) -> None:
        self._simulators = simulators
        self._waiting: dict[str, deque[_Episode]] = {}
        for number, attempt in enumerate(attempts):
            episode = _Episode(number, attempt, EpisodeNoise(attempt.seed, action_dim, correlation))
            self._waiting.setdefault(attempt.task, deque()).append(episode)
        self._running: dict[int, _Episode] = {}
        self._done: dict[int, Trajectory] = {}

    def submit(self, stage: int, chunks: dict[int, Order]) -> bool:
        """Give a stage its chunks, and an attempt to each idle slot; False: nothing is left for it to do."""
        orders: dict[int, Order] = dict(chunks)
        for slot, task in self._simulators.vec_env_spec.slots(stage).items():
            if slot not in self._running and self._waiting.get(task):
                self._running[slot] = self._waiting[task].popleft()
                orders[slot] = self._running[slot].attempt
        if orders:
            self._simulators.submit(stage, orders)
        return bool(orders)

    def look(self, stage: int, progress: Callable[[Trajectory], None]) -> dict[int, _Episode]:
        """Take down a stage's outputs and return the episodes that go on, by slot."""
        outputs = self._simulators.collect(stage)
        for slot, output in outputs.items():
            episode = self._running[slot]
            episode.see(output)
            if output.ended:
                self._done[episode.number] = episode.trajectory()
                progress(self._done[episode.number])
                del self._running[slot]
        return {slot: self._running[slot] for slot in outputs if slot in self._running}

    def trajectories(self) -> list[Trajectory]:
        return [self._done[number] for number in sorted(self._done)]
