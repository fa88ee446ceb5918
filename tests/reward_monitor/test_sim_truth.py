from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from openral_core.errors import PolicyError
from openral_reward_monitor.models.reward_model import load_reward_model
from openral_reward_monitor.models.sim_truth import FRESH_S
from openral_sim_bridge.backend import Snapshot
from openral_sim_bridge.truth_recorder import TruthRecorder

FRAMES = np.zeros((3, 4, 4, 3), np.uint8)
TASKS = {"open the drawer": "drawer-open-v3", "fly": "fly-v3"}


@pytest.fixture
def make_truth(make_reward, tmp_path: Path):
    """Return the model over a run folder, with the words above."""
    return lambda wait_s=60.0: load_reward_model(
        make_reward({"model_family": "sim_truth"}, run_dir=str(tmp_path / "run"), tasks=TASKS, wait_s=wait_s)
    )


def record(run_dir: Path, success: list[bool]) -> None:
    """What a bridge leaves of one step of a world with two tasks."""
    recorder = TruthRecorder(run_dir, ["metaworld/drawer-open-v3", "metaworld/drawer-close-v3"], 80.0)
    world = Snapshot(np.zeros(3), np.zeros(3))
    recorder.step(0.0, 0.0, world, np.zeros(4), False, np.array(success), "")
    recorder.close()


def test_the_simulators_verdict_is_the_score(make_truth, tmp_path):
    record(tmp_path / "run", [True, False])
    model = make_truth()
    assert model.score(FRAMES, "open the drawer").success.tolist() == [1.0, 1.0, 1.0]
    record(tmp_path / "run", [False, True])
    assert model.score(FRAMES, "open the drawer").progress.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(PolicyError, match="no task 'fly-v3'; it has drawer-open-v3, drawer-close-v3"):
        model.score(FRAMES, "fly")


def test_it_refuses_to_run_outside_a_simulator(make_truth, tmp_path):
    with pytest.raises(PolicyError, match="runs beside a simulator only"):
        make_truth(wait_s=0.0)
    record(tmp_path / "run", [True, False])
    model = make_truth()
    file = tmp_path / "run" / "truth.npz"
    os.utime(file, (0, file.stat().st_mtime - 2 * FRESH_S))
    with pytest.raises(PolicyError, match="none keeps a record"):
        model.score(FRAMES, "open the drawer")
