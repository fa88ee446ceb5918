"""A suite on the fake world, where the end of every episode can be worked out, and `openral benchmark` on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml
from typer.testing import CliRunner

from openral_benchmark.commands import app
from openral_core.files.share import share_directory

TASKS = ("near", "far")
REACHES = [-0.6, 0.4, 0.0, 0.0]
"""Passes the fake task's point at 0.83 mm times the number of the initial state; within 30 mm is a success."""


def write_suite(folder: Path, *, said: Sequence[str] = (), **faults: object) -> Path:
    """Write the suite `points`; `said` are several words for each task, `faults` those of the fake world."""
    scene = yaml.safe_load((share_directory() / "scenes/benchmarks/metaworld_mini.yaml").read_text())
    scene["scene"]["backend_options"] = {
        "family": "fake",
        "tasks": ["near"],
        "render_profile": "fast",
        **faults,
    }
    scene["scene"] |= {"observation_width": 96, "observation_height": 96}
    scene["task"] |= {"id": "fake/near", "max_steps": 60, "instruction": "reach the near point"}
    scene |= {"seed": 20, "n_episodes": 20}
    (folder / "scene.yaml").write_text(yaml.safe_dump(scene))
    suite = [
        {
            "scene": str(folder / "scene.yaml"),
            "task": f"fake/{task}",
            **({"instructions": list(said)} if said else {"instruction": f"reach the {task} point"}),
        }
        for task in TASKS
    ]
    (folder / "points.yaml").write_text(yaml.safe_dump(suite))
    return folder / "points.yaml"


def write_skill(folder: Path, name: str = "reacher", **script: object) -> Path:
    source = share_directory() / "rskills/mini-metaworld/rskill.yaml"
    manifest = yaml.safe_load(source.read_text())
    manifest |= {
        "name": f"tests/rskill-{name}",
        "model_family": "fake",
        "policy_extras": {"action": REACHES, **script},
        "evaluated_tasks": [],
        "examples": [],
        "trained_init_ids": {},
    }
    (folder / name).mkdir()
    (folder / name / "rskill.yaml").write_text(yaml.safe_dump(manifest))
    (folder / name / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder / name


def words(tmp_path: Path, out: str, *more: str, skill: Path | None = None) -> list[str]:
    suite = tmp_path / "points.yaml"
    if not suite.exists():
        write_suite(tmp_path)
    skill = skill or (tmp_path / "reacher" if (tmp_path / "reacher").exists() else write_skill(tmp_path))
    return ["run", "--suite", str(suite), "--rskill", str(skill), "--out", str(tmp_path / out), *more]


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return result.output


def episodes(folder: Path) -> list[dict]:
    """The rows without what the clock decides."""
    content = json.loads((folder / "result.json").read_text())
    timed = ("wall_s", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "inference_s")
    return [{k: v for k, v in row.items() if k not in timed} for row in content["results"]["episodes"]]


def crowded(tmp_path: Path, delay_s: float = 0.0) -> Path:
    """A skill whose answers depend on how many episodes share a batch."""
    return write_skill(tmp_path, "crowded", behaviour="crowded", delay_s=delay_s)


def started(arguments: list[str], **variables: str) -> subprocess.Popen[bytes]:
    """`openral benchmark` as a process, with further environment variables."""
    command = [str(Path(sys.executable).with_name("openral")), "benchmark", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until(condition: Callable[[], bool], limit_s: float = 120.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def has_block(episode_log: Path) -> bool:
    return episode_log.exists() and '"complete"' in episode_log.read_text()
