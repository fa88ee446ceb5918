"""What the tests of the rldx family share."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openral_core.types import PolicyBatch

MODULE = "openral_policy_nodes.families.rldx.conformance_server"
PATIENCE_S = 120.0
EMPTY_SAFETENSORS = (2).to_bytes(8, "little") + b"{}"
SHIPPED = Path(__file__).parents[3] / "rskills" / "rldx1-ft-libero-nf4" / "rskill.yaml"


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Return the first true value of `condition`."""
    until = time.monotonic() + PATIENCE_S
    while not (value := condition()):
        assert time.monotonic() < until, f"waited {PATIENCE_S:g} s for {what}"
        time.sleep(0.02)
    return value


def free_port() -> int:
    """A port of loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Started:
    """A conformance server that answers."""

    process: subprocess.Popen[bytes]
    port: int
    record: Path

    def rows(self, endpoint: str) -> list[dict[str, Any]]:
        """What it was asked at one endpoint."""
        rows = [json.loads(line) for line in self.record.read_text().splitlines()]
        return [row for row in rows if row["endpoint"] == endpoint]


def make_batch(
    *episodes: str, words: str = "pick up the bowl", seed: int = 0, history: int = 4
) -> PolicyBatch:
    """Return a batch of noise, one row an episode."""
    rng = np.random.default_rng(seed)
    count = len(episodes)
    images = {
        f"observation.images.camera{i}": rng.integers(0, 256, (count, history, 16, 16, 3)).astype(np.uint8)
        for i in (1, 2)
    }
    return PolicyBatch(images, rng.normal(size=(count, 8)).astype(np.float32), [words] * count, episodes)
