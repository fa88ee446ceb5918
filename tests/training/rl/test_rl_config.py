"""Configs: what ships loads, and what would not be read is refused with its name and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from rl_settings import NULL, PPO, PROCESSES, small, write

from openral_core.errors import ManifestError
from openral_core.files.named_files import names_of
from openral_core.scene import BenchmarkScene, load_scene
from openral_training.rl.config import PATTERNS, load_config
from openral_training.rl.run import effective_settings


@pytest.mark.parametrize("name", names_of(PATTERNS))
def test_what_ships_loads_and_its_effective_values_load_again(name: str, tmp_path: Path) -> None:
    config = load_config(name)
    path = tmp_path / "effective.yaml"
    path.write_text(effective_settings(config))
    assert load_config(path).model_dump() == config.model_dump()


@pytest.mark.parametrize("name", names_of(PATTERNS))
def test_what_ships_names_a_scene_of_its_tasks(name: str) -> None:
    config = load_config(name)
    assert load_scene(config.env.scene, BenchmarkScene).scene.backend_options["family"] in {
        "libero",
        "metaworld",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"algorithm": {"adv_type": "grpo", "group_size": 2, "gama": 0.9}}, "algorithm.gama: unknown key"),
        ({"algorithm": {"adv_type": "grpo", "group_size": 2, "gamma": 0.9}}, "algorithm.gamma: unknown key"),
        ({"algorithm": {"adv_type": "gae", "group_size": 2}}, "algorithm.group_size: unknown key"),
        ({"algorithm": {"adv_type": "ppo"}}, "algorithm.adv_type: 'ppo' is not known; use one of grpo, gae"),
        ({"algorithm": {"adv_type": "gae"}}, "actor.optim.value_lr: is missing for adv_type gae"),
        (
            {"actor": {"optim": {"value_lr": 0.1}}},
            "actor.optim.value_lr: is not used: adv_type grpo has no critic",
        ),
        ({"actor": {"model": {"initial_log_std": -1.0}}}, "is not used by the head bins"),
        (
            {"actor": {"model": {"head": "bins"}}},
            "actor.model.bins: is missing for the head bins; add it, such as",
        ),
        (
            {"actor": {"model": {"head": "bins", "bins": NULL}}},
            "actor.model.bins: is missing for the head bins",
        ),
        ({"actor": {"model": {"bins": NULL}}}, "actor.model.bins: is missing for the head bins"),
        (
            {"actor": {"model": {"head": "gaussian", "initial_log_std": NULL}}},
            "actor.model.initial_log_std: is missing for the head gaussian",
        ),
        (
            {"algorithm": {"adv_type": "grpo", "group_size": 3}},
            "algorithm.group_size: is 3, of which 4 episodes a task are",
        ),
        (
            {"algorithm": {"adv_type": "grpo", "group_size": 2, "max_rounds": 3}},
            "algorithm.informative_share: is not used",
        ),
        (
            {"algorithm": {"adv_type": "grpo", "group_size": 2, "informative": [1.0, 0.0]}},
            "algorithm.informative: no mean lies between 1 and 0",
        ),
        (
            {**PPO, "algorithm": {"adv_type": "gae", "logprob_type": "chunk"}},
            "algorithm.logprob_type: is chunk, coarser",
        ),
        (
            {"rollout": {"pipeline_stage_num": 2}},
            "rollout.pipeline_stage_num: is 2, but simulation and inference share",
        ),
        (
            {"env": {"train": {"total_num_envs": 5}}, "rollout": {"pipeline_stage_num": 2}, **PROCESSES},
            "env.train.total_num_envs: 5 environments",
        ),
        ({"env": {"eval": {"init_ids": {"first": 5, "count": 3}}}}, "env.eval.init_ids: 5 to 7 overlap"),
        (
            {"env": {"eval": {"init_ids": {"first": 5, "count": 10**12}}}},
            "init_ids: 5 to 1000000000004 overlap",
        ),
        (
            {
                "env": {"train": {"world_model": "w"}},
                "cluster": {"component_placement": {"env,rollout": "0-1", "actor": 2}},
            },
            "cluster.component_placement: has rollout workers in processes of their own",
        ),
        ({"base": {"demos": 7}}, "base.demos: is 7, more than the 6 states"),
        (
            {"env": {"instructions": {"reach-v3": "reach"}}},
            "env.instructions: is not used: neither the policy",
        ),
        ({**PPO, "reward": {"model_path": "mini-progress"}}, "env.instructions: lacks reach-v3"),
        (
            {**PPO, "reward": {"model_path": "x"}, "env": {"instructions": {"push-v3": "push"}}},
            "push-v3: is none of env.tasks",
        ),
        (
            {"reward": {"model_path": "mini-progress"}, "env": {"instructions": {"reach-v3": "reach"}}},
            "reward: is not used: differences of progress add up to the same return",
        ),
        (
            {"actor": {"model": {"model_type": "mlpx"}}},
            "actor.model.model_type: 'mlpx' is not known; use one of mlp, mini",
        ),
        (
            {"actor": {"model": {"model_type": "mini", "hidden": None}}, "base": None},
            "actor.model.model_path: is missing",
        ),
        (
            {
                "actor": {"model": {"model_type": "mini", "model_path": "mini-metaworld", "bins": 9}},
                "base": None,
            },
            "actor.model.bins: unknown key",
        ),
        (
            {"actor": {"model": {"model_type": "mini", "model_path": "mini-metaworld"}}},
            "base: is not used: a policy of actor.model.model_type mini",
        ),
        (
            {"cluster": {"component_placement": {"env": "0-2", "rollout": "3-4", "actor": 5}}},
            "3 ranks of env cannot be shared out among 2",
        ),
        (
            {"cluster": {"component_placement": {"env": "0-1", "rollout,actor": 3}}},
            "no component is at rank 2",
        ),
        ({"cluster": {"num_nodes": 2}}, "cluster.num_nodes: is not used with placement local"),
        ({"cluster": {"gpus_per_rank": 1}}, "cluster.gpus_per_rank: is not used with placement local"),
        (
            {
                "cluster": {
                    "placement": "ray",
                    "num_nodes": 2,
                    "component_placement": {"env": "0-1", "rollout,actor": 2},
                }
            },
            "3 ranks cannot be shared out among 2 machines",
        ),
        (
            {"cluster": {"component_placement": {"env,rollout,actor": "0-2"}}},
            "4 environments cannot be shared out among 1 tasks in 1 stages of 3",
        ),
        ({"cluster": {"component_placement": {"env": "0-2", "rollout,actor": 2}}}, "only some of its ranks"),
        ({"cluster": {"component_placement": {"env,rollout": 0}}}, "actor is not placed"),
        ({"cluster": {"component_placement": {"env,env,rollout,actor": 0}}}, "env is placed twice"),
        ({"cluster": {"component_placement": {"env,rollout,learner": 0}}}, "there is no component 'learner'"),
        ({"cluster": {"component_placement": {"env,rollout,actor": "all"}}}, "'all' is not a range of ranks"),
    ],
)
def test_what_would_not_be_read_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = write(tmp_path, change)
    with pytest.raises(ManifestError) as caught:
        load_config(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")


def test_a_fault_of_the_head_is_one_line_at_the_place_where_it_is(tmp_path: Path) -> None:
    path = write(tmp_path, {"actor": {"model": {"head": "bins"}}})
    with pytest.raises(ManifestError) as caught:
        load_config(path)
    [line] = str(caught.value).splitlines()
    number = path.read_text().splitlines().index("  model:") + 1
    assert (
        line == f"{path}:{number}: actor.model.bins: is missing for the head bins; add it, such as bins: 33"
    )


def test_ranks_say_who_runs_in_processes_of_their_own(tmp_path: Path) -> None:
    def apart(*changes: dict[str, Any]) -> tuple[list[int], bool, bool]:
        cluster = small(tmp_path, *changes).cluster
        return cluster.env_ranks, cluster.rollout_apart, cluster.learners_apart

    def placed(**ranks: str | int) -> dict[str, Any]:
        return {"cluster": {"component_placement": ranks}}

    assert apart() == ([], False, False)
    assert apart(PROCESSES) == ([0, 1], False, False)
    assert apart(placed(env=0, rollout=0, actor=1)) == ([], True, False)
    assert apart(placed(env="0-3", rollout="4-5", actor="0-5")) == ([0, 1, 2, 3], True, True)
    assert apart({"cluster": {"placement": "ray"}}) == ([], True, True)


def test_effective_values_name_every_default(tmp_path: Path) -> None:
    said = yaml.safe_load(effective_settings(small(tmp_path)))
    assert said["actor"]["model"]["bins"] == 33
    assert said["algorithm"]["clip_ratio_high"] == 0.28
