"""Experience in the real simulator: the same wherever the worlds are, and although a process of them dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_core.errors import ContractError, SimulationError
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import with_task
from openral_training.rl.algorithm.groups import check_groups, group_numbers
from openral_training.rl.envs.env_group import InProcess, Simulators, VecEnvSpec
from openral_training.rl.envs.episode_trajectory import EpisodeRequest, Trajectory
from openral_training.rl.envs.rollout import exploring, greedy, rollout
from openral_training.rl.envs.vec_env import EnvInput, EnvOutput
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp
from openral_training.rl.workers.env_pool import EnvPool

pytestmark = pytest.mark.usefixtures("warm_workers")

TASKS = ("reach-v3", "push-v3")
HORIZON = 10


def vec_env_spec(stages: int = 1) -> VecEnvSpec:
    scene = load_scene("metaworld_reach", BenchmarkScene)
    return VecEnvSpec(
        {task: with_task(scene, f"metaworld/{task}", task) for task in TASKS}, 4, stages, HORIZON
    )


def policy() -> StateMlp:
    torch.manual_seed(0)
    shape = {"chunk": 4, "hidden": 16, "observation_dim": 23, "action_dim": 4, "value_width": 1}
    return StateMlp(MlpShape.model_validate(shape))


def requests(count: int = 6) -> list[EpisodeRequest]:
    return [
        EpisodeRequest(task, number // 2, (7, number), number // 2 + 100 * place)
        for place, task in enumerate(TASKS)
        for number in range(count)
    ]


def run_all(
    simulators: Simulators, progress: Callable[[Trajectory], None] = lambda trajectory: None
) -> list[Trajectory]:
    return rollout(
        simulators, exploring(policy()), requests(), action_dim=4, correlation=0.5, progress=progress
    )


def assert_same(found: Sequence[Trajectory], expected: Sequence[Trajectory]) -> None:
    assert [t.request for t in found] == [t.request for t in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.state_digest == other.state_digest
        for name in ("observations", "last_observation", "tokens", "rewards", "executed"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=1e-5)


@pytest.fixture(scope="module")
def expected() -> list[Trajectory]:
    simulators = InProcess(vec_env_spec())
    found = run_all(simulators)
    simulators.close()
    return found


def test_an_episode_is_cut_off_at_the_horizon_and_within_a_chunk(expected: list[Trajectory]) -> None:
    assert len(expected) == 12
    for trajectory in expected:
        assert trajectory.observations.shape == (3, 23)
        assert trajectory.executed.sum(1).tolist() == [4, 4, 2]
        assert trajectory.steps == HORIZON
        assert not trajectory.success
    assert expected[0].observations[0, -2:].tolist() == [1, 0]
    assert expected[-1].observations[0, -2:].tolist() == [0, 1]


def test_a_world_that_is_cut_off_stands_still_while_its_neighbour_goes_on() -> None:
    """What is seen after the cut-off is bootstrapped from: it is the state after the last step that was executed."""
    spec = VecEnvSpec({"reach-v3": vec_env_spec().scenes["reach-v3"]}, 2, 1, HORIZON)
    chunk = np.tile(np.array([1.0, 1.0, -1.0, 0.0], np.float32), (4, 1))
    begin, go = EpisodeRequest("reach-v3", 0, (0,)), chunk

    def last(neighbour: list[EnvInput | None]) -> EnvOutput:
        [vec_env] = spec.vec_envs()
        for own, other in zip([begin, go, go, go], neighbour, strict=True):
            outputs = vec_env.step({0: own, **({} if other is None else {1: other})})
        vec_env.close()
        return outputs[0]

    alone, beside = last([None] * 4), last([None, begin, go, go])
    assert alone.ended
    assert beside.ended
    assert alone.executed is not None
    assert alone.executed.tolist() == [True, True, False, False]
    np.testing.assert_array_equal(beside.observation, alone.observation)


def test_groups_begin_alike_and_go_their_own_ways(expected: list[Trajectory]) -> None:
    states = [(t.request.task, t.state_digest) for t in expected]
    check_groups(group_numbers(expected), states, 2)
    with pytest.raises(ContractError, match="mixes 2 tasks or initial states"):
        check_groups(group_numbers(expected) // 2, states, 4)
    assert not np.array_equal(expected[0].tokens, expected[1].tokens)
    np.testing.assert_array_equal(expected[0].observations[0], expected[1].observations[0])


def test_processes_and_stages_change_nothing_nor_does_a_death(expected: list[Trajectory]) -> None:
    simulators = EnvPool(vec_env_spec(stages=2), ProcessLauncher(), range(2))
    first = simulators.pids[0]
    deaths: list[int] = []

    def kill(trajectory: Trajectory) -> None:
        if not deaths:
            deaths.append(first)
            os.kill(first, signal.SIGKILL)

    try:
        assert_same(run_all(simulators, kill), expected)
        assert simulators.replaced == 1
        assert simulators.pids[0] != first
    finally:
        simulators.close()


def test_a_world_that_refuses_says_so_and_one_that_is_lost_too_often_ends_the_run() -> None:
    simulators = EnvPool(vec_env_spec(), ProcessLauncher(), [0], max_losses=0)
    try:
        with pytest.raises(SimulationError, match="init_id"):
            rollout(simulators, greedy(policy()), [EpisodeRequest("reach-v3", -1, (0,))], action_dim=4)
        with pytest.raises(SimulationError, match=r"were lost in one collection.*--resume"):
            run_all(simulators, lambda trajectory: os.kill(simulators.pids[0], signal.SIGKILL))
    finally:
        simulators.close()


def test_greedy_has_no_chance() -> None:
    simulators = InProcess(vec_env_spec())
    twice = [EpisodeRequest("reach-v3", 3, (seed,)) for seed in (0, 1)]
    one, other = rollout(simulators, greedy(policy()), twice, action_dim=4)
    simulators.close()
    np.testing.assert_array_equal(one.observations, other.observations)
