"""Loading packed weights against loading bf16 and quantising, on a synthetic checkpoint of 500 MB, in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openral_reward_monitor.models.robometer.spec import SPEC
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.environment.code_links import bundle_for

ROOT = Path(__file__).parents[3]
LEAST = "1000000"
RUNS = 2
pytestmark = pytest.mark.timeout(3600)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The plain and the packed one; random weights, proves plumbing and costs only."""
    plain = tmp_path_factory.mktemp("robometer") / "plain"
    packed = plain.with_name("packed")
    commands = (
        ["tools/make_tiny_checkpoint.py", "robometer_500mb", str(plain)],
        ["tools/build_robometer_nf4_checkpoint.py", str(plain), str(packed), "--min-numel", LEAST],
    )
    for command in commands:
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, timeout=1200)
    return plain, packed


def measured(folder: Path) -> dict[str, Any]:
    """Load once in a fresh process."""
    command = [
        str(ensure_environment(SPEC)),
        str(Path(__file__).with_name("nf4_loading.py")),
        str(folder),
        LEAST,
    ]
    environment = {
        **os.environ,
        **SPEC.environment,
        "PYTHONPATH": str(bundle_for(SPEC.module)),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, timeout=1200, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_packed_weights_load_faster_and_in_less_memory_and_are_the_same_bits(
    checkpoints: tuple[Path, Path], report: Callable[..., None]
) -> None:
    plain, packed = checkpoints
    pairs = [(measured(plain), measured(packed)) for _ in range(RUNS)]
    for in_place, loaded in pairs:
        assert in_place["packed"] == loaded["packed"]
        assert in_place["logits"] == loaded["logits"]
        assert loaded["finite"]
    ratio = {
        name: min(loaded[name] for _, loaded in pairs) / min(in_place[name] for in_place, _ in pairs)
        for name in ("seconds", "peak_mb", "peak_own_mb")
    }
    for name, words, bar in (
        ("seconds", "loading packed NF4 weights, s", "0.5 x"),
        ("peak_mb", "peak memory of loading them, MB", "0.4 x"),
        ("peak_own_mb", "of it not mapped from the file, MB", "0.4 x"),
        ("first_forward_s", "first forward pass of 8 frames, s", ""),
        ("resident_after_forward_mb", "resident after it, MB", ""),
    ):
        best = [min(pair[which][name] for pair in pairs) for which in (0, 1)]
        report(words, f"{best[1]:g}", f"{best[0]:g}, bf16 quantised in place", bar)
    assert ratio["seconds"] <= 0.5
    assert ratio["peak_mb"] <= 0.4
    assert ratio["peak_own_mb"] <= 0.4
