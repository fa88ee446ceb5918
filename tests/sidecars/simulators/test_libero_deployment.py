"""A deployment over LIBERO's world: bridge, policy node and reasoner, with RLDX-1's protocol at the other end.

The server holds random weights and proves plumbing only: the arm moves, and nobody expects the bowl to.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openral_sidecar.environment.build import ensure_environment
from openral_sim_bridge.backends.libero.spec import SPEC

COPY = Path(__file__).parents[4] / "shared" / "data" / "libero_assets_repaired.tar.xz"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    chosen = os.environ.get("OPENRAL_LIBERO_ASSETS", str(COPY))
    if not Path(chosen).exists():
        pytest.skip(f"no LIBERO assets: {chosen} does not exist; set OPENRAL_LIBERO_ASSETS")
    ensure_environment(SPEC)
    return {
        **os.environ,
        "OPENRAL_LIBERO_ASSETS": chosen,
        "OPENRAL_ACCEPT_NONCOMMERCIAL": "1",
        "OPENRAL_RLDX_AUTO_SPAWN": "0",
        "ROS_LOG_DIR": str(tmp_path / "ros"),
    }


@pytest.fixture
def port(tmp_path: Path, variables: dict[str, str]) -> Iterator[str]:
    """The port of a conformance server for the skill's checkpoint."""
    module = "openral_policy_nodes.families.rldx.conformance_server"
    words = ["--model", "RLWRLD/RLDX-1-FT-LIBERO", "--quantization", "nf4", "--port", "0"]
    log = tmp_path / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen([sys.executable, "-m", module, *words], env=variables, stderr=output)
    try:
        until = time.monotonic() + 120
        while not (found := re.search(r"answers at 127\.0\.0\.1:(\d+)", log.read_text())):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield found[1]
    finally:
        server.terminate()
        server.wait(60)


def test_a_skill_moves_liberos_arm(tmp_path: Path, variables: dict[str, str], port: str) -> None:
    folder = tmp_path / "run"
    command = [
        str(Path(sys.executable).with_name("openral")),
        "deploy",
        "sim",
        "--no-reward-monitor",
        "--lockstep",
        "--config",
        "scenes/deploy/libero_spatial.yaml",
        "--run-dir",
        str(folder),
    ]
    done = subprocess.run(
        command,
        env={**variables, "OPENRAL_RLDX_PORT": port},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    log = (folder / "launch.log").read_text()
    mission = json.loads((folder / "mission.json").read_text())
    assert [task["skill"] for task in mission["tasks"]] == ["OpenRAL/rskill-rldx1-ft-libero-nf4"], log
    with np.load(folder / "truth.npz") as truth:
        moved = truth["qpos"][~truth["held"]][:, :7]
        assert truth["tasks"].tolist()[0].startswith("libero_spatial/")
    assert len(moved) >= 8, log
    assert np.abs(moved[-1] - moved[0]).max() > 0.01, "the arm went somewhere"
    assert (folder / "mission.mp4").stat().st_size > 10_000, (
        "the film is drawn by another process with the world"
    )
    assert list((folder / "meshes").glob("*.stl"))
    assert done.returncode in (0, 1), (
        done.stderr
    )  # what random weights make of the mission is not the question
