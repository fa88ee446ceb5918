"""Reinforcement learning: what the loop costs beside the simulator, what two stages gain, and what an update costs.

The first and the last take turns with their reference in one process and count CPU time, so their ratios hold on a
machine that has other things to do. Two stages gain by doing two things at once: there the clock on the wall counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import ppo_single_file as single
import pytest
import torch
from numpy.typing import NDArray

from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import with_task
from openral_sim_bridge.backends.factory import make_backend
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.envs.env_group import InProcess, Simulators, VecEnvSpec
from openral_training.rl.envs.episode_trajectory import EpisodeRequest
from openral_training.rl.envs.rollout import Decide, exploring, rollout
from openral_training.rl.policies.noise import EpisodeNoise
from openral_training.rl.policies.policy import Decision
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Ppo
from openral_training.rl.workers.env_pool import EnvPool

TASK, WORLDS, HORIZON, CHUNK = "drawer-open-v3", 16, 60, 4
ROUNDS = 8
ROLLOUT_BAR, STAGES_BAR, UPDATE_BAR = 0.8, 1.3, 1.2
ROWS, BATCH, PASSES, HIDDEN = 2048, 256, 4, 256


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def vec_env_spec(stages: int = 1) -> VecEnvSpec:
    scene = load_scene("metaworld_reach", BenchmarkScene)
    return VecEnvSpec({TASK: with_task(scene, f"metaworld/{TASK}", TASK)}, WORLDS, stages, HORIZON)


def policy(chunk: int = CHUNK) -> StateMlp:
    torch.manual_seed(0)
    shape = {"head": "gaussian", "chunk": chunk, "hidden": HIDDEN, "observation_dim": 21, "action_dim": 4}
    return StateMlp(MlpShape.model_validate({**shape, "value_width": chunk}))


def attempts(count: int) -> list[EpisodeRequest]:
    return [EpisodeRequest(TASK, number, (7, number)) for number in range(count)]


def test_rollout_beside_the_simulator_alone(report: Callable[..., None]) -> None:
    """Whole episodes with the policy in the loop, against as many resets and steps of the same worlds."""
    simulators, decide = InProcess(vec_env_spec()), exploring(policy())
    backend = make_backend(next(iter(vec_env_spec().scenes.values())), num_envs=WORLDS)
    actions = np.random.default_rng(0).uniform(-1, 1, (HORIZON, WORLDS, 4)).astype(np.float32)
    rates = []
    for _ in range(ROUNDS):
        start = time.process_time()
        trajectories = rollout(simulators, decide, attempts(WORLDS), action_dim=4)
        loop = sum(t.steps for t in trajectories) / (time.process_time() - start)
        start = time.process_time()
        backend.reset([TASK] * WORLDS, list(range(WORLDS)))
        for action in actions:
            backend.step(action)
        rates.append((loop, HORIZON * WORLDS / (time.process_time() - start)))
    simulators.close()
    backend.close()
    ours, alone = np.max(rates, axis=0)
    report(
        "RL: control steps a second of CPU with the policy in the loop",
        f"{ours:,.0f}",
        f"Backend alone: {alone:,.0f}; ratio {ours / alone:.2f}",
        f"≥ {ROLLOUT_BAR}",
    )
    assert ours >= ROLLOUT_BAR * alone


def waiting(seconds_a_row: float) -> Decide:
    """A policy on a device of its own: whoever asks it waits, and the processor is free meanwhile."""
    decide = exploring(policy())

    def slow(observations: NDArray[np.float32], noise: Sequence[EpisodeNoise]) -> Decision:
        time.sleep(seconds_a_row * len(observations))
        return decide(observations, noise)

    return slow


def seconds(simulators: Simulators, decide: Decide) -> float:
    start = time.perf_counter()
    rollout(simulators, decide, attempts(WORLDS), action_dim=4)
    return time.perf_counter() - start


def test_two_stages_beside_one(report: Callable[..., None]) -> None:
    """Inference is made to take as long as the simulation of the same worlds takes, which is measured first."""
    pools = [EnvPool(vec_env_spec(stages), ProcessLauncher(), [0]) for stages in (1, 2)]
    try:
        for pool in pools:
            seconds(pool, waiting(0.0))  # builds the worlds
        simulation = min(seconds(pools[0], waiting(0.0)) for _ in range(ROUNDS))
        decide = waiting(simulation / (WORLDS * HORIZON / CHUNK))
        times = [[seconds(pool, decide) for pool in pools] for _ in range(ROUNDS)]
    finally:
        for pool in pools:
            pool.close()
    one, two = np.min(times, axis=0)
    report(
        "RL: two pipeline stages, simulation and inference of equal cost",
        f"{one / two:.2f} × as fast",
        f"one stage: {one:.2f} s",
        f"≥ {STAGES_BAR}",
    )
    assert one >= STAGES_BAR * two


def test_an_update_beside_ppo_in_one_file(report: Callable[..., None]) -> None:
    """The same networks, steps, minibatches and passes."""
    rng = np.random.default_rng(0)
    mine = policy(chunk=1)
    seen = rng.standard_normal((ROWS, 21), np.float32)
    drawn = mine.sample(seen, rng.standard_normal((ROWS, 1, 4), np.float32))
    advantages, returns = (torch.from_numpy(rng.standard_normal((ROWS, 1), np.float32)) for _ in range(2))
    tokens, logprobs, values = (torch.from_numpy(a) for a in (drawn.tokens, drawn.logprobs, drawn.values))
    ones = torch.ones(ROWS, 1)
    trajectories = Batch(torch.from_numpy(seen), tokens, logprobs, ones, advantages, ones, values, returns)
    config = Ppo(
        adv_type="gae", update_epoch=PASSES, target_kl=None, logprob_type="action", entropy_bonus=0.01
    )
    learner = Learner(mine, config, Optim(lr=3e-4, value_lr=3e-4), BATCH)

    agent = single.Agent(21, 4, HIDDEN, 1)
    optimiser = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    flat = (trajectories.observations, tokens[:, 0], logprobs[:, 0].sum(1), advantages[:, 0], returns, values)
    batch = single.Batch(*flat)
    times = []
    for number in range(ROUNDS):
        start = time.process_time()
        learner.update(trajectories, number, 0)
        half = time.process_time()
        single.update(agent, optimiser, batch, rng, passes=PASSES, size=BATCH)
        times.append((half - start, time.process_time() - half))
    ours, reference = np.min(times, axis=0)
    report(
        "RL: an update of 2,048 decisions, 4 passes, minibatches of 256",
        f"{1000 * ours:.0f} ms of CPU",
        f"PPO in one file: {1000 * reference:.0f} ms; ratio {ours / reference:.2f}",
        f"≤ {UPDATE_BAR}",
    )
    assert ours <= UPDATE_BAR * reference
