"""Rollout workers and learners in processes of their own: what comes out is what one process makes of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from rl_settings import PPO, metrics, small

from openral_benchmark.workers.process_launcher import ProcessLauncher
from openral_training.rl.algorithm.batch import Batch
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.config import RlConfig
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp
from openral_training.rl.run import train
from openral_training.rl.workers.learners import DistributedLearner

pytestmark = pytest.mark.usefixtures("warm_workers")

ROWS = 17
"""Minibatches of at most 2 make a last one of a single decision, of which the second process has no share."""
KL = {
    "algorithm": {"adv_type": "grpo", "group_size": 2, "kl_beta": 0.1, "target_kl": None},
    "actor": {"global_batch_size": 2},
}


def learner_of(config: RlConfig) -> Learner:
    torch.manual_seed(0)
    policy = StateMlp(
        MlpShape(**config.actor.model.model_dump(), observation_dim=5, action_dim=2, value_width=4)
    )
    return Learner(policy, config.algorithm, config.actor.optim, config.actor.global_batch_size)


def batch_of(learner: Learner) -> Batch:
    rng = np.random.default_rng(3)
    seen = rng.standard_normal((ROWS, 5), np.float32)
    drawn = learner.policy.sample(seen, rng.standard_normal((ROWS, 4, 2), np.float32))
    executed = torch.ones(ROWS, 4)
    executed[::5, 2:] = 0
    rows = {
        name: torch.from_numpy(rng.standard_normal((ROWS, 4), np.float32))
        for name in ("advantages", "returns")
    }
    sampled = {name: torch.from_numpy(getattr(drawn, name)) for name in ("tokens", "logprobs", "values")}
    return Batch(
        observations=torch.from_numpy(seen),
        executed=executed,
        weights=executed / executed.sum(1, keepdim=True),
        **rows,
        **sampled,
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_learners_update_as_one_does_although_one_of_them_dies(tmp_path: Path) -> None:
    config = small(tmp_path, KL)
    alone, shared = learner_of(config), learner_of(config)
    batch, actor = batch_of(alone), config.actor
    distributed = DistributedLearner(
        shared, ProcessLauncher(), range(2), config.algorithm, actor.optim, actor.global_batch_size
    )
    try:
        for number in range(2):
            expected = alone.update(batch, number, 1)
            found = distributed.update(batch, number, 1)
            assert found == pytest.approx(expected, rel=1e-3, abs=1e-5, nan_ok=True)
            if number == 0:
                os.kill(distributed.pids[1], signal.SIGKILL)
        assert distributed.replaced == 1
    finally:
        distributed.close()
    for name, value in alone.policy.network.state_dict().items():
        torch.testing.assert_close(shared.policy.network.state_dict()[name], value, rtol=1e-4, atol=1e-6)
    before = learner_of(config).policy.network.state_dict()
    assert any(
        not torch.equal(before[name], value) for name, value in shared.policy.network.state_dict().items()
    )


APART = {"cluster": {"component_placement": {"env": 0, "rollout": 1, "actor": "0-1"}}}
LONGER = {"env": {"max_episode_steps": 60}, "runner": {"max_epochs": 2}}


class Killed(Exception):
    """The end of a run that did not choose it."""


def kill(done: int, note: str) -> None:
    if done == 2:
        raise Killed


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_components_apart_update_as_one_process_does_and_go_on_where_they_were_killed(tmp_path: Path) -> None:
    for name in ("one", "apart"):
        (tmp_path / name).mkdir()
    train(small(tmp_path / "one", LONGER, PPO))
    apart = small(tmp_path / "apart", LONGER, PPO, APART)
    with pytest.raises(Killed):
        train(apart, progress_callback=kill)
    train(apart, resume=True)
    for found, expected in zip(
        *(metrics(tmp_path / name / "small") for name in ("apart", "one")), strict=True
    ):
        numbers = [{name: float(value) for name, value in row.items() if value} for row in (found, expected)]
        # Other processes, the same numbers up to rounding, which minibatches of another size bring.
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-2, abs=1e-4, nan_ok=True)
