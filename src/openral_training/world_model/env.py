"""A world model as a vectorised environment, which is reset and stepped in chunks.

The interface is that of RLinf's OpenSora environment (condition frames, chunks, q01/q99 actions, reset from stored
first frames), with these differences: each environment is reset by itself and has its own step count, success counts in
any step of a chunk, and the success head knows the task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openral_core.errors import ContractError, SimulationError
from openral_training.world_model.model import Prediction, WorldModel
from openral_training.world_model.starts import Start, Starts
from openral_training.world_model.statistics import ActionScale

THRESHOLD = 0.9
"""Least probability that counts as success, as in RLinf."""


@dataclass(frozen=True)
class ImaginedChunk:
    """The outcome of one chunk in B environments. Frames are decoded on request, since most rollouts need none."""

    latents: Tensor
    """(B, H, ...) latents after each step."""
    states: NDArray[np.float32]
    """(B, H, S) after each step."""
    likelihood: NDArray[np.float32]
    """(B, H) probability of success after each step."""
    rewards: NDArray[np.float64]
    """(B, H) 1 in the step in which the task is solved first in the episode, else 0."""
    executed: NDArray[np.bool_]
    """(B, H) False after the step that ended the episode."""
    success: NDArray[np.bool_]
    """(B,) whether the episode has been solved by now."""
    truncated: NDArray[np.bool_]
    """(B,) whether the episode was truncated at the horizon, unsolved."""
    aborted: NDArray[np.bool_]
    """(B,) whether the episode was ended, unsolved, since the model's uncertainty was above its limit."""
    _model: WorldModel
    _first: NDArray[np.uint8]
    """(B, P, P, 3) first frames of the episodes."""
    _first_states: NDArray[np.float32]
    """(B, S) states of the first frames."""

    def frames(self) -> NDArray[np.uint8]:
        """Decode (B, H, 256, 256, 3) RGB."""
        return self._model.frames(self.latents, self._first, self._first_states)


class WorldModelEnv:
    """N environments that a world model simulates."""

    def __init__(
        self,
        model: WorldModel,
        starts: Starts,
        scale: ActionScale,
        *,
        num_envs: int,
        horizon: int,
        threshold: float = THRESHOLD,
    ) -> None:
        """Make the environments; each must be reset before it is stepped.

        Args:
            model: predicts what actions lead to.
            starts: first frames of episodes.
            scale: of actions.
            num_envs: N, the number of environments.
            horizon: steps after which an episode is truncated.
            threshold: least probability for which a task counts as solved.

        Raises:
            ContractError: the scale and the model have actions of different dimension.
        """
        if scale.dim != model.action_dim:
            raise ContractError(
                f"statistics of {scale.dim} numbers an action; the model takes {model.action_dim}"
            )
        self.num_envs, self.chunk, self._model, self._starts, self._scale = (
            num_envs,
            model.chunk,
            model,
            starts,
            scale,
        )
        self._horizon, self._threshold = horizon, threshold
        self._before: list[Tensor | None] = [None] * num_envs
        self._past_actions = np.zeros((num_envs, model.condition_frames, model.action_dim), np.float32)
        self._clock = np.zeros(num_envs, np.int64)
        self._over = np.ones(num_envs, np.bool_)
        self._begun: list[Start | None] = [None] * num_envs
        self._seeds: list[tuple[int, ...]] = [()] * num_envs

    def reset(
        self,
        tasks: Sequence[str],
        init_ids: Sequence[int],
        envs: Sequence[int] | None = None,
        seeds: Sequence[tuple[int, ...]] | None = None,
    ) -> NDArray[np.float32]:
        """Begin episodes at stored first frames and return states (B, S); other environments are not changed.

        Args:
            tasks: one for each environment that is reset.
            init_ids: one for each.
            envs: indices of the environments; None: all.
            seeds: one for each; with the initial state and the step they determine the model's randomness. None: the
                same for all episodes.

        Raises:
            NotFoundError: there is no such first frame.
        """
        chosen = list(range(self.num_envs)) if envs is None else list(envs)
        seeds = [()] * len(chosen) if seeds is None else seeds
        if not len(chosen) == len(tasks) == len(init_ids) == len(seeds):
            raise SimulationError(
                f"reset: {len(chosen)} worlds, {len(tasks)} tasks, {len(init_ids)} initial states, {len(seeds)} seeds"
            )
        begun = [self._starts.at(task, init_id) for task, init_id in zip(tasks, init_ids, strict=True)]
        for env, start, seed in zip(chosen, begun, seeds, strict=True):
            self._seeds[env] = seed
            latent = self._model.begin(start.frame[None], start.state[None])
            self._before[env] = latent.repeat_interleave(self._model.condition_frames, 0)
            self._past_actions[env], self._clock[env], self._over[env], self._begun[env] = (
                0.0,
                0,
                False,
                start,
            )
        return np.stack([start.state for start in begun])

    def chunk_step(self, actions: NDArray[np.float32], envs: Sequence[int] | None = None) -> ImaginedChunk:
        """Predict the outcome of chunks of actions (B, H, A) in the simulator's units.

        Args:
            actions: one chunk for each environment.
            envs: indices of the environments; None: all.

        Raises:
            ContractError: the actions are of another shape.
            SimulationError: the episode of an environment is over, or was never begun; reset it.
        """
        chosen = list(range(self.num_envs)) if envs is None else list(envs)
        needed = (len(chosen), self._model.chunk, self._model.action_dim)
        if actions.shape != needed:
            raise ContractError(
                f"actions {actions.shape}, needed {needed}: worlds, steps of a chunk, numbers of an action"
            )
        before = torch.stack([self._latents(env) for env in chosen])
        normalised = self._scale.normalised(actions)
        prediction = self._model.imagine(
            before, self._past_actions[chosen], normalised, [self._seed(env) for env in chosen]
        )
        seen = torch.cat([before, prediction.latents], 1)
        likelihood = self._model.success(seen, [self._start(env).instruction for env in chosen])
        for row, env in enumerate(chosen):
            self._before[env] = seen[row, -self._model.condition_frames :]
            self._past_actions[env] = np.concatenate([self._past_actions[env], normalised[row]])[
                -self._model.condition_frames :
            ]
        return self._outcome(chosen, prediction, likelihood)

    def _outcome(
        self, chosen: list[int], prediction: Prediction, likelihood: NDArray[np.float32]
    ) -> ImaginedChunk:
        """Advance the step counts, and return the outcome of the chunk."""
        steps = self._clock[chosen, None] + 1 + np.arange(self.chunk)
        unknown = prediction.uncertainty > 1
        solved = (likelihood >= self._threshold) & (steps <= self._horizon) & ~unknown
        ends = solved | unknown | (steps >= self._horizon)
        executed: NDArray[np.bool_] = np.cumsum(ends, axis=1) - ends == 0
        rewards = (solved & executed).astype(np.float64)
        success: NDArray[np.bool_] = np.any(rewards > 0, axis=1)
        self._clock[chosen] += executed.sum(1)
        self._over[chosen] = (ends & executed).any(1)
        aborted: NDArray[np.bool_] = np.any(unknown & executed, axis=1)
        truncated: NDArray[np.bool_] = self._over[chosen] & ~success & ~aborted
        states = self._model.states(prediction.latents)
        begun = [self._start(env) for env in chosen]
        return ImaginedChunk(
            prediction.latents,
            states,
            likelihood,
            rewards,
            executed,
            success,
            truncated,
            aborted,
            self._model,
            np.stack([start.frame for start in begun]),
            np.stack([start.state for start in begun]),
        )

    def _latents(self, env: int) -> Tensor:
        """Return (F, ...) the condition latents of an environment."""
        before = self._before[env]
        if before is None or self._over[env]:
            raise SimulationError(f"world {env}: its episode is over or was never begun; reset it")
        return before

    def _start(self, env: int) -> Start:
        start = self._begun[env]
        assert start is not None, "a world that is stepped was begun"
        return start

    def _seed(self, env: int) -> int:
        """Return the seed of the next chunk, which depends on the episode's seed, initial state and step alone."""
        key = (*self._seeds[env], self._start(env).init_id, int(self._clock[env]))
        return int(np.random.SeedSequence(key).generate_state(1)[0])
