"""A suite on a Ray cluster of several nodes, all on loopback, one of which dies in the middle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmark_points import crowded, episodes, has_block, invoke, started, until, words
from ray_nodes import LOOPBACK, TOKEN, cluster, node, patiently
from typer.testing import CliRunner

from openral_benchmark.commands import app
from openral_core.errors import InstallationError

LIMIT_S = 900.0


def test_a_cluster_gives_the_rows_of_one_machine_although_a_node_dies(tmp_path: Path) -> None:
    skill = crowded(tmp_path, delay_s=0.1)
    invoke(*words(tmp_path, "here", "--num-envs", "2", skill=skill))
    arguments = words(
        tmp_path, "there", "--num-envs", "2", "--workers", "2", "--cluster", "auto", skill=skill
    )
    with cluster() as head:
        nodes = [patiently(lambda: head.add_node(**node())) for _ in range(2)]
        with started(arguments, RAY_ADDRESS=head.address, **TOKEN) as process:
            try:
                until(lambda: has_block(tmp_path / "there" / "rows.jsonl"), LIMIT_S)
                head.remove_node(nodes[0], allow_graceful=False)
                assert process.wait(LIMIT_S) == 0
            finally:
                process.kill()
    assert json.dumps(episodes(tmp_path / "there")) == json.dumps(episodes(tmp_path / "here"))
    engine = json.loads((tmp_path / "there" / "result.json").read_text())["engine"]
    assert (engine["cluster"], engine["workers"], engine["policy_loads"]) == ("auto", 2, 1)
    assert engine["lost"] >= 1


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_gcs_server_port_wait_time_s", "1")  # tries
    nobody = f"{LOOPBACK}:9"
    result = CliRunner().invoke(app, words(tmp_path, "out", "--cluster", nobody))
    assert isinstance(result.exception, InstallationError)
    assert f"no Ray cluster answers at {nobody}" in str(result.exception)
    assert len(str(result.exception).splitlines()) == 1
