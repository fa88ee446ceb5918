"""Behaviour cloning of scripted experts, for the initial policy on the simulator's state.

Nothing is rendered, so a demonstration takes tenths of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_core.scene import DeployScene
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.backends.metaworld.world import make_expert
from openral_training.rl.envs.observation_encoder import StateEncoder
from openral_training.rl.policies.state_mlp import StateMlp
from openral_training.rl.settings.actor import InitialCloning

MAX_TRIES = 10
"""Most attempts of a disturbed expert from one initial state; the first successful one is taken."""
MIN_STD = 0.05
"""Least standard deviation by which an entry of the observation is divided, since few demonstrations do not show its
whole range."""

Step = tuple[NDArray[np.float32], NDArray[np.float64]]
"""Observation (D,) and the undisturbed expert's action (A,) of one control step."""


@dataclass(frozen=True)
class ExpertSteps:
    """N control steps of demonstrations, each with the expert's next C actions."""

    observations: NDArray[np.float32]
    """(N, D)"""
    actions: NDArray[np.float32]
    """(N, C, A) of the undisturbed expert in this step and the next ones."""
    valid: NDArray[np.bool_]
    """(N, C) False for steps after the demonstration's end."""


def demonstrate(
    scene: DeployScene,
    task: str,
    init_ids: list[int],
    encoder: StateEncoder,
    *,
    chunk: int,
    horizon: int,
    noise: float,
    seed: int,
) -> ExpertSteps:
    """Run the scripted expert of a task once from each initial state.

    Args:
        scene: of the task.
        task: the simulator's name of it.
        init_ids: of the states.
        encoder: returns observations.
        chunk: C, actions of each step.
        horizon: most control steps of a demonstration.
        noise: standard deviation of the noise on the executed actions, which are within -1..1.
        seed: of the noise.

    Raises:
        SimulationError: the task has no expert, or it does not succeed.
    """
    backend = make_backend(scene)
    try:
        if not isinstance(backend, MetaWorldBackend):
            raise SimulationError(
                f"{scene.scene.id}: has no scripted expert that acts on its state; use a scene of MetaWorld"
            )
        demonstrations = [
            _with_next_actions(_demonstration(backend, task, init_id, encoder, horizon, noise, seed), chunk)
            for init_id in init_ids
        ]
    finally:
        backend.close()
    return concatenated(demonstrations)


def concatenated(parts: list[ExpertSteps]) -> ExpertSteps:
    """Return several demonstrations as one."""
    return ExpertSteps(
        np.concatenate([part.observations for part in parts]),
        np.concatenate([part.actions for part in parts]),
        np.concatenate([part.valid for part in parts]),
    )


def _demonstration(
    backend: MetaWorldBackend,
    task: str,
    init_id: int,
    encoder: StateEncoder,
    horizon: int,
    noise: float,
    seed: int,
) -> list[Step]:
    """Return the steps of one successful demonstration."""
    for attempt in range(MAX_TRIES):
        rng = np.random.default_rng([seed, init_id, attempt])
        [state] = backend.reset([task], [init_id])
        expert, world = make_expert(task), backend.world(0)
        steps: list[Step] = []
        for _ in range(horizon):
            action = world.expert_action(task, expert)
            steps.append((encoder.encode(backend, 0, task, state), action))
            disturbed = action + noise * rng.standard_normal(len(action))
            result = backend.step(np.clip(disturbed, -1, 1)[None])
            [state] = result.states
            if result.success[0, backend.task_ids.index(task)]:
                return steps
        if not noise:
            break
    raise SimulationError(
        f"{task}: the expert does not solve initial state {init_id} within {horizon} steps; "
        "raise env.max_episode_steps or lower base.noise"
    )


def _with_next_actions(steps: list[Step], chunk: int) -> ExpertSteps:
    """Return the steps of a demonstration, each with its own action and the next C - 1 ones."""
    actions = np.stack([action for _, action in steps]).astype(np.float32)
    ahead = np.arange(len(steps))[:, None] + np.arange(chunk)
    chunks = actions[np.minimum(ahead, len(steps) - 1)]
    return ExpertSteps(np.stack([observation for observation, _ in steps]), chunks, ahead < len(steps))


def clone(
    policy: StateMlp,
    demonstrations: ExpertSteps,
    config: InitialCloning,
    seed: int,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Maximise the likelihood of the expert's actions, with an entropy bonus.

    Args:
        policy: with untrained networks; mean and standard deviation of its observations are set as well.
        demonstrations: of all tasks.
        config: hyper-parameters.
        seed: of the minibatches.
        progress: called after each step with the number of steps and the loss [nat per token].
    """
    network = policy.network
    network.mean.copy_(torch.from_numpy(demonstrations.observations.mean(0)))
    network.std.copy_(torch.from_numpy(np.maximum(demonstrations.observations.std(0), MIN_STD)))
    observations, valid = (
        torch.from_numpy(array) for array in (demonstrations.observations, demonstrations.valid)
    )
    tokens = torch.from_numpy(policy.head.tokens(demonstrations.actions))
    optimiser = torch.optim.Adam(policy.actor_parameters(), lr=config.lr)
    rng = np.random.default_rng(seed)
    for step in range(config.steps):
        size = min(config.batch_size, len(observations))
        rows = torch.from_numpy(rng.integers(len(observations), size=size))
        evaluation = policy.evaluate(observations[rows], tokens[rows])
        objective = evaluation.logprobs + config.entropy_bonus * evaluation.entropy
        loss = -objective[valid[rows]].mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        progress(step + 1, loss.item())
