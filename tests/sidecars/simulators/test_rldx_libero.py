"""RLDX-1's skill in real LIBERO, alone and deployed; its server conforms and holds random weights (plumbing only)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rldx_helpers import EMPTY_SAFETENSORS, MODULE, SHIPPED, Started, wait_for

from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.server_announcement import announcements
from openral_sidecar.table import sidecar_spec

ROOT = Path(__file__).parents[3]
COPY = ROOT.parent / "shared" / "data" / "libero_assets_repaired.tar.xz"
OPENRAL = str(Path(sys.executable).parent / "openral")
SENTENCE = "pick up the black bowl"


@pytest.fixture(scope="module", autouse=True)
def libero() -> None:
    chosen = os.environ.get("OPENRAL_LIBERO_ASSETS", str(COPY))
    if not Path(chosen).exists():
        pytest.skip(f"no LIBERO assets: {chosen} does not exist; set OPENRAL_LIBERO_ASSETS")
    ensure_environment(sidecar_spec("libero"))


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """The skill that openral ships, with a checkpoint beside it."""
    folder = tmp_path / "skill"
    (folder / "checkpoint").mkdir(parents=True)
    (folder / "checkpoint" / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
    budget = {"per_chunk_ms": 700, "max_execution_s": 1}
    manifest = {
        **yaml.safe_load(SHIPPED.read_text()),
        "weights_uri": "local://checkpoint",
        "latency_budget": budget,
    }
    (folder / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    return folder


@pytest.fixture
def server(skill: Path, tmp_path: Path) -> Iterator[Started]:
    record = tmp_path / "record.jsonl"
    record.touch()
    words = ["--model", str(skill / "checkpoint"), "--quantization", "nf4", "--record", str(record)]
    process = subprocess.Popen([sys.executable, "-m", MODULE, *words])

    def port() -> int:
        assert process.poll() is None
        return next((found.port for found in announcements() if found.pid == process.pid), 0)

    yield Started(process, wait_for(port, "the server's identity file"), record)
    process.kill()
    process.wait()


@pytest.fixture
def openral(server: Started, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    variables = {
        "OPENRAL_LIBERO_ASSETS": os.environ.get("OPENRAL_LIBERO_ASSETS", str(COPY)),
        "OPENRAL_ACCEPT_NONCOMMERCIAL": "1",
        "OPENRAL_RLDX_AUTO_SPAWN": "0",
        "OPENRAL_RLDX_PORT": str(server.port),
        "ROS_DOMAIN_ID": str(100 + os.getpid() % 100),
    }

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [OPENRAL, *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )

    return run


def rows_of(server: Started) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.record.read_text().splitlines()]


def goals(server: Started) -> list[str]:
    """The sessions that acted, in order, without those of warming up."""
    acted = [row["sessions"][0] for row in rows_of(server) if row["endpoint"] == "get_action"]
    return [name for name in dict.fromkeys(acted) if name != "warm-up"]


def unreset(server: Started) -> list[str]:
    """The sessions that acted before they were reset."""
    known: set[str] = set()
    early = []
    for row in rows_of(server):
        if row["endpoint"] == "reset":
            known |= set(row["sessions"])
        elif row["endpoint"] == "get_action":
            early += [name for name in row["sessions"] if name not in known]
    return early


def test_one_command_runs_the_skill_in_its_benchmark(openral: Any, skill: Path, server: Started) -> None:
    words = ("--config", ROOT / "scenes" / "benchmarks" / "rldx1_libero_spatial.yaml", "--rskill", skill)
    done = openral("sim", "run", *words, "--n-episodes", 1, "--max-steps", 16, "--no-save-video")
    assert "0 of 1 succeeded" in done.stdout, done.stdout + done.stderr
    rows = server.rows("get_action")
    assert len(rows) == 2  # 16 control steps, 8 of each chunk's 16
    assert all("black bowl" in row["sentences"][0] for row in rows)
    assert len(goals(server)) == 1
    assert unreset(server) == []


def test_deployed_every_goal_resets_and_words_change_without_loading(
    openral: Any, skill: Path, server: Started, tmp_path: Path
) -> None:
    scene = yaml.safe_load((ROOT / "scenes" / "deploy" / "libero_spatial.yaml").read_text())
    scene["scene"]["backend_options"]["render_profile"] = "fast"
    del scene["reward_skill"]
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump({**scene, "skills": [str(skill)]}))
    for number, sentence in enumerate((SENTENCE, "open the drawer")):
        words = (
            "--config",
            tmp_path / "scene.yaml",
            "--mission",
            sentence,
            "--run-dir",
            tmp_path / f"run{number}",
        )
        done = openral(
            "deploy", "sim", *words, "--no-reward-monitor", "--lockstep", "--rtf", 0, "--no-video", "-v"
        )
        assert "it could not be verified" in done.stdout, done.stdout + done.stderr
        spoken = [
            row["sentences"][0] for row in server.rows("get_action") if row["sessions"] == goals(server)[-1:]
        ]
        assert set(spoken) == {sentence}
        assert len(goals(server)) == number + 1
    assert unreset(server) == []
    assert server.process.poll() is None
