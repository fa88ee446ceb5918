"""A deployment over robosuite's world: a policy, motions, a reward monitor, and the simulator's own verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from openral_sidecar.environment.build import ensure_environment
from openral_sim_bridge.backends.robosuite.spec import SPEC


def _deployed(folder: Path, *words: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run a mission to its end; return its summary and its events."""
    ensure_environment(SPEC)
    openral, run = str(Path(sys.executable).with_name("openral")), folder / "run"
    done = subprocess.run(
        [openral, "deploy", "sim", "--lockstep", "--no-video", "--run-dir", str(run), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    summary = json.loads((run / "summary.json").read_text())
    assert summary["passed"], said
    return summary, [json.loads(line) for line in (run / "mission.jsonl").read_text().splitlines()]


def test_a_cube_is_lifted_and_the_monitor_sees_it(tmp_path: Path) -> None:
    summary, _ = _deployed(tmp_path, "--config", "robosuite_lift")
    (task,) = summary["tasks"]
    assert task["skill_task"] == "Lift"
    assert task["simulator_success"]
    assert task["progress"] > 0.5, "the monitor watched and saw it"


def test_what_the_policy_cannot_do_the_motions_do(tmp_path: Path) -> None:
    """In this initial state the policy stands still beside the can."""
    summary, events = _deployed(tmp_path, "--config", "robosuite_can", "--init-id", "1015")
    (task,) = summary["tasks"]
    assert task["simulator_success"]
    assert task["attempts"] == 2
    (change,) = [event["reason"] for event in events if event["kind"] == "motions"]
    assert "attempt 1 failed" in change
    assert "the can is taken, and put at the bin" in change
