"""A suite on a Ray cluster of several nodes, all on loopback, one of which dies in the middle."""

from __future__ import annotations

import json
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest
from benchmark_points import crowded, episodes, has_block, invoke, started, until, words
from typer.testing import CliRunner

from openral_core.errors import InstallationError
from openral_training.benchmark.cli import app

Made = TypeVar("Made")
LOOPBACK = "127.0.0.2"
"""Whoever joins a cluster at 127.0.0.1 is sent to the machine's own address, where nothing of this one listens."""
# Before Ray is imported: it reads them then. Its ports are guarded by a token of this test.
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
os.environ.update(TOKEN)
pytest.importorskip("ray", reason="needs Ray: pip install 'openral[ray]'")
from ray.cluster_utils import Cluster  # noqa: E402

AGENT_PORTS = (
    "metrics_agent_port", "metrics_export_port", "runtime_env_agent_port", "dashboard_agent_listen_port"
)  # fmt: skip
PATIENCE = {
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_health_check_timeout_ms": "60000",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""A node of this cluster starts five Python processes. Where other work has the processor, they need longer than Ray
allows, and a node that is only slow is taken for a dead one."""
LIMIT_S = 900.0
TRIES = 8
"""To start a node: Ray gives one 30 s, which no setting changes."""


def node() -> dict[str, Any]:
    """Return the settings of a node on loopback.

    Its agents' ports are named here. Where they choose their own, the node waits 15 s for it and ends if they have not
    by then, which no setting changes (ray-project/ray#65983).
    """
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((LOOPBACK, 0))) for _ in AGENT_PORTS]
        ports = {name: free.getsockname()[1] for name, free in zip(AGENT_PORTS, sockets, strict=True)}
    return {"num_cpus": 1, "object_store_memory": 100 << 20, "node_ip_address": LOOPBACK, **ports}


def patiently(start: Callable[[], Made]) -> Made:
    """Start a node or a cluster, again where the machine was too busy to do it in Ray's time."""
    for tried in range(TRIES):
        try:
            return start()
        except Exception as error:  # Ray raises this very type
            if "timed out during startup" not in str(error) or tried == TRIES - 1:
                raise
    raise AssertionError


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)  # sockets want short paths
        (Path(folder) / "ray").mkdir()  # Cluster writes its address there and does not make the folder
        monkeypatch.setenv("PYTHONPYCACHEPREFIX", f"{folder}/bytecode")  # two dozen processes import the same
        monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        for name, value in PATIENCE.items():
            monkeypatch.setenv(name, value)
        head = {"include_dashboard": False, "no_monitor": True}
        made = patiently(lambda: Cluster(initialize_head=True, head_node_args={**head, **node()}))
        try:
            yield made
        finally:
            made.shutdown()


def test_a_cluster_gives_the_rows_of_one_machine_although_a_node_dies(
    tmp_path: Path, cluster: Cluster
) -> None:
    nodes = [patiently(lambda: cluster.add_node(**node())) for _ in range(2)]
    skill = crowded(tmp_path, delay_s=0.1)
    invoke(*words(tmp_path, "here", "--num-envs", "2", skill=skill))
    arguments = words(
        tmp_path, "there", "--num-envs", "2", "--workers", "2", "--cluster", "auto", skill=skill
    )
    with started(arguments, RAY_ADDRESS=cluster.address, **TOKEN) as process:
        try:
            until(lambda: has_block(tmp_path / "there" / "rows.jsonl"), LIMIT_S)
            cluster.remove_node(nodes[0], allow_graceful=False)
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
