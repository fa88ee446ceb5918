"""The policy that learning begins with: a few shows of scripted experts, cloned.

State only, nothing is rendered: a demonstration takes tenths of a second.
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
from openral_training.rl.envs.observation_encoder import StateSenses
from openral_training.rl.policies.state_mlp import StateMlp
from openral_training.rl.settings.actor import Base

TRIES = 10
"""Disturbed shows of one initial state until one succeeds."""
LEAST_SPREAD = 0.05
"""Least standard deviation by which a number of the observation is divided: a few shows do not tell its range."""


@dataclass(frozen=True)
class Shows:
    """N moments of expert episodes."""

    observations: NDArray[np.float32]
    """(N, D)"""
    actions: NDArray[np.float32]
    """(N, C, A) what the undisturbed expert did then and in the next steps."""
    known: NDArray[np.bool_]
    """(N, C) whether the episode went on so long."""


def demonstrate(
    scene: DeployScene,
    task: str,
    init_ids: list[int],
    senses: StateSenses,
    *,
    chunk: int,
    horizon: int,
    noise: float,
    seed: int,
) -> Shows:
    """Let the scripted expert of a task show it once from each initial state.

    Args:
        scene: of the task.
        task: the simulator's name.
        init_ids: of the states.
        senses: reads observations.
        chunk: C
        horizon: control steps that a show may take.
        noise: standard deviation of what is added to the executed actions, -1..1.
        seed: of that.

    Raises:
        SimulationError: there is no expert, or it does not succeed.
    """
    backend = make_backend(scene)
    try:
        if not isinstance(backend, MetaWorldBackend):
            raise SimulationError(
                f"{scene.scene.id}: no scripted expert acts on its state; use a MetaWorld scene"
            )
        shows = [
            _chunked(_show(backend, task, init_id, senses, horizon, noise, seed), chunk)
            for init_id in init_ids
        ]
    finally:
        backend.close()
    return joined(shows)


def joined(shows: list[Shows]) -> Shows:
    """Return all moments as one."""
    return Shows(
        np.concatenate([show.observations for show in shows]),
        np.concatenate([show.actions for show in shows]),
        np.concatenate([show.known for show in shows]),
    )


def _show(
    backend: MetaWorldBackend,
    task: str,
    init_id: int,
    senses: StateSenses,
    horizon: int,
    noise: float,
    seed: int,
) -> list[tuple[NDArray[np.float32], NDArray[np.float64]]]:
    """Return the observation and the advice of each control step of one successful show."""
    for attempt in range(TRIES):
        rng = np.random.default_rng([seed, init_id, attempt])
        [state] = backend.reset([task], [init_id])
        expert, world = make_expert(task), backend.world(0)
        moments = []
        for _ in range(horizon):
            advice = world.expert_action(task, expert)
            moments.append((senses.look(backend, 0, task, state), advice))
            disturbed = advice + noise * rng.standard_normal(len(advice))
            result = backend.step(np.clip(disturbed, -1, 1)[None])
            [state] = result.states
            if result.success[0, backend.task_ids.index(task)]:
                return moments
        if not noise:
            break
    raise SimulationError(
        f"{task}: the expert does not solve initial state {init_id} within {horizon} steps; "
        "raise env.max_episode_steps or lower base.noise"
    )


def _chunked(moments: list[tuple[NDArray[np.float32], NDArray[np.float64]]], chunk: int) -> Shows:
    """Return the moments of a show, each with the advice of its next steps, and which of them there were."""
    advised = np.stack([advice for _, advice in moments]).astype(np.float32)
    steps = np.arange(len(moments))[:, None] + np.arange(chunk)
    actions = advised[np.minimum(steps, len(moments) - 1)]
    return Shows(np.stack([seen for seen, _ in moments]), actions, steps < len(moments))


def clone(
    policy: StateMlp,
    shows: Shows,
    config: Base,
    seed: int,
    progress: Callable[[int, float], None] = lambda step, loss: None,
) -> None:
    """Teach a policy what experts did: the likeliest actions, no surer than the entropy bonus lets it.

    Args:
        policy: fresh; its scale of observations is set, too.
        shows: of all tasks.
        config: hyper-parameters.
        seed: of the order of the moments.
        progress: called after each step with the number of steps and the loss [nat a token].
    """
    network = policy.network
    network.mean.copy_(torch.from_numpy(shows.observations.mean(0)))
    network.std.copy_(torch.from_numpy(np.maximum(shows.observations.std(0), LEAST_SPREAD)))
    seen, known = torch.from_numpy(shows.observations), torch.from_numpy(shows.known)
    tokens = torch.from_numpy(policy.head.tokens(shows.actions))
    optimiser = torch.optim.Adam(policy.actor_parameters(), lr=config.lr)
    rng = np.random.default_rng(seed)
    for step in range(config.steps):
        rows = torch.from_numpy(rng.integers(len(seen), size=min(config.batch_size, len(seen))))
        judged = policy.evaluate(seen[rows], tokens[rows])
        gain = (judged.logprobs + config.entropy_bonus * judged.entropy)[known[rows]].mean()
        optimiser.zero_grad()
        (-gain).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        progress(step + 1, -gain.item())
