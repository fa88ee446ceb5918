"""A suite on a Ray cluster of several nodes, all on loopback, one of which dies in the middle."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from pathlib import Path

import pytest
from benchmark_points import crowded, episodes, has_block, invoke, started, until, words

# Before Ray is imported: it reads them then. Its ports are guarded by a token of this test.
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
os.environ.update(TOKEN)
pytest.importorskip("ray", reason="needs Ray: pip install 'openral[ray]'")
from ray.cluster_utils import Cluster  # noqa: E402

NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch):
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:  # sockets want short paths
        monkeypatch.setenv("RAY_TMPDIR", folder)
        (Path(folder) / "ray").mkdir()  # Cluster writes its address there and does not make the folder
        head = {**NODE, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
        made = Cluster(initialize_head=True, head_node_args=head)
        try:
            yield made
        finally:
            made.shutdown()


def test_a_cluster_gives_the_rows_of_one_machine_although_a_node_dies(
    tmp_path: Path, cluster: Cluster
) -> None:
    nodes = [cluster.add_node(**NODE, node_ip_address="127.0.0.1") for _ in range(2)]
    skill = crowded(tmp_path, delay_s=0.1)
    invoke(*words(tmp_path, "here", "--num-envs", "2", skill=skill))
    arguments = words(tmp_path, "there", "--num-envs", "2", "--cluster", "auto", skill=skill)
    with started(arguments, RAY_ADDRESS=cluster.address, **TOKEN) as process:
        try:
            until(lambda: has_block(tmp_path / "there" / "rows.jsonl"))
            cluster.remove_node(nodes[0], allow_graceful=False)
            assert process.wait(300) == 0
        finally:
            process.kill()
    assert json.dumps(episodes(tmp_path / "there")) == json.dumps(episodes(tmp_path / "here"))
    engine = json.loads((tmp_path / "there" / "result.json").read_text())["engine"]
    assert (engine["cluster"], engine["workers"], engine["policy_loads"]) == ("auto", 2, 1)
    assert engine["lost"] >= 1
