"""Reinforcement learning on a Ray cluster of two nodes on loopback: what comes out is what one process makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from ray_nodes import LOOPBACK, cluster, node, patiently
from rl_settings import PPO, metrics, small

from openral_core.errors import InstallationError
from openral_training.rl.config import RlConfig, load_config, with_changes
from openral_training.rl.run import train
from openral_training.rl.settings.cluster import Cluster

LONGER = {"env": {"max_episode_steps": 60}, "runner": {"max_epochs": 2}}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Two nodes with two cores each."""
    with cluster(cores=2) as head:
        patiently(lambda: head.add_node(**node(cores=2)))
        yield head.address


def placed(config: RlConfig, address: str, **ranks: str | int) -> RlConfig:
    there = Cluster(placement="ray", address=address, num_nodes=2, component_placement=ranks)
    return config.model_copy(update={"cluster": there})


def title_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def test_components_apart_learn_what_one_process_learns_although_a_rollout_worker_is_killed(
    tmp_path: Path, address: str
) -> None:
    one = with_changes(load_config("reach_ci"), out=tmp_path / "one", seed=None, epochs=None)
    apart = with_changes(load_config("reach_ci"), out=tmp_path / "apart", seed=None, epochs=None)
    killed: list[int] = []

    def kill(done: int, note: str) -> None:
        if done == 2:
            [worker] = [
                process
                for process in psutil.process_iter()
                if title_of(process).startswith("ray::RolloutWorker")
            ]
            worker.kill()
            killed.append(worker.pid)

    expected = train(one)
    found = train(placed(apart, address, env="0-1", rollout=2, actor=3), progress_callback=kill)
    assert len(killed) == 1
    assert expected["policy"]["all_episodes"]["success_rate"] >= 0.9
    assert found["policy"] == expected["policy"]
    assert found["episodes"] == expected["episodes"]
    rows = [metrics(tmp_path / name) for name in ("apart", "one")]
    updates = expected["updates"]
    assert [row.pop("env/processes_replaced") for row in rows[0]] == ["", "0", "0", *["1"] * (updates - 2)]
    assert [row.pop("env/processes_replaced") for row in rows[1]] == ["", *["0"] * updates]
    assert rows[0] == rows[1]
    assert json.loads((tmp_path / "apart" / "result.json").read_text())["env_steps"] == expected["env_steps"]


def test_learners_on_two_nodes_go_the_way_of_one_and_go_on_with_resume(tmp_path: Path, address: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    train(small(tmp_path / "one", LONGER, PPO))
    two = placed(small(tmp_path / "two", LONGER, PPO), address, env=0, rollout=3, actor="1-2")

    class Killed(Exception):
        pass

    def kill(done: int, note: str) -> None:
        if done == 2:
            raise Killed

    with pytest.raises(Killed):
        train(two, progress_callback=kill)
    train(two, resume=True)
    for found, expected in zip(*(metrics(tmp_path / name / "small") for name in ("two", "one")), strict=True):
        numbers: list[dict[str, Any]] = [
            {k: float(v) for k, v in row.items() if v} for row in (found, expected)
        ]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-2, abs=1e-4, nan_ok=True)


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_gcs_server_port_wait_time_s", "1")  # tries
    config = placed(small(tmp_path, LONGER, PPO), f"{LOOPBACK}:9", **{"env,rollout": 0, "actor": 1})
    with pytest.raises(InstallationError, match=r"cluster.address 127.0.0.2:9: no Ray cluster answers"):
        train(config)
