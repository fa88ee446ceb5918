"""A Ray cluster of several nodes, all on loopback, for tests. Import it before Ray is imported."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

Made = TypeVar("Made")
LOOPBACK = "127.0.0.2"
"""Whoever joins a cluster at 127.0.0.1 is sent to the machine's own address, where nothing of this one listens."""
# Before Ray is imported: it reads them then. Its ports are guarded by a token of this test.
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
os.environ.update(TOKEN)
pytest.importorskip("ray", reason="needs Ray: pip install 'openral[ray]'")
from ray.cluster_utils import Cluster  # noqa: E402

AGENT_PORTS = (
    "metrics_agent_port",
    "metrics_export_port",
    "runtime_env_agent_port",
    "dashboard_agent_listen_port",
)
PATIENCE = {
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_health_check_timeout_ms": "60000",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""A node of this cluster starts five Python processes. Where other work has the processor, they need longer than Ray
allows, and a node that is only slow is taken for a dead one."""
TRIES = 8
"""To start a node: Ray gives one 30 s, which no setting changes."""


def node(cores: int = 1) -> dict[str, Any]:
    """Return the settings of a node on loopback.

    Its agents' ports are named here. Where they choose their own, the node waits 15 s for it and ends if they have not
    by then, which no setting changes (ray-project/ray#65983).
    """
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((LOOPBACK, 0))) for _ in AGENT_PORTS]
        ports = {name: free.getsockname()[1] for name, free in zip(AGENT_PORTS, sockets, strict=True)}
    return {"num_cpus": cores, "object_store_memory": 100 << 20, "node_ip_address": LOOPBACK, **ports}


def patiently(start: Callable[[], Made]) -> Made:
    """Start a node or a cluster, again where the machine was too busy to do it in Ray's time."""
    for tried in range(TRIES):
        try:
            return start()
        except Exception as error:  # Ray raises this very type
            if "timed out during startup" not in str(error) or tried == TRIES - 1:
                raise
    raise AssertionError


@contextmanager
def cluster(cores: int = 1) -> Iterator[Cluster]:
    """Start a head with so many cores, and end it with all nodes that were added."""
    with (
        tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("RAY_TMPDIR", folder)  # sockets want short paths
        (Path(folder) / "ray").mkdir()  # Cluster writes its address there and does not make the folder
        environment.setenv("PYTHONPYCACHEPREFIX", f"{folder}/bytecode")  # two dozen processes import the same
        environment.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        for name, value in PATIENCE.items():
            environment.setenv(name, value)
        head = {"include_dashboard": False, "no_monitor": True}
        made = patiently(lambda: Cluster(initialize_head=True, head_node_args={**head, **node(cores)}))
        try:
            yield made
        finally:
            made.shutdown()
