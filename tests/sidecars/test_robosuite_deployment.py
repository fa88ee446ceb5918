"""A deployment over robosuite's world: one sentence, a policy, a reward monitor, and the simulator's own verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from openral_sidecar.environment.build import ensure_environment
from openral_sim_bridge.backends.robosuite.spec import SPEC


def test_a_cube_is_lifted_and_the_monitor_sees_it(tmp_path: Path) -> None:
    ensure_environment(SPEC)
    openral, run = str(Path(sys.executable).with_name("openral")), tmp_path / "run"
    words = ("--config", "robosuite_lift", "--lockstep", "--no-video", "--run-dir", str(run))
    done = subprocess.run(
        [openral, "deploy", "sim", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    summary = json.loads((run / "summary.json").read_text())
    assert summary["passed"], said
    (task,) = summary["tasks"]
    assert task["skill_task"] == "Lift"
    assert task["simulator_success"]
    assert task["progress"] > 0.5, "the monitor watched and saw it"
