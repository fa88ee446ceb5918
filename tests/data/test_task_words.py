"""An operator's episode is judged by the task that his words mean, not by the one that the world was reset for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_deployment import HZ, RecordedDeployment

from openral_core.scene import load_scene
from openral_data.lerobot_v3 import open_dataset
from openral_data.recording.task_lookup import task_words

STEPS = 60


def write_truth(path: Path, success: dict[str, bool]) -> Path:
    """The simulator's record of a world that was reset for its first task, and in which nothing changes."""
    np.savez(
        path,
        stamp_s=np.arange(1, STEPS + 1) / HZ,
        success=np.tile(list(success.values()), (STEPS, 1)),
        tasks=np.array([f"metaworld/{name}" for name in success]),
        reset_stamp_s=np.zeros(1),
        reset_task=np.array([next(iter(success))]),
        reset_init=np.array([1000]),
    )
    return path


@pytest.mark.parametrize(
    ("success", "words", "outcome", "sim_task"),
    [
        (
            {"drawer-open-v3": False, "drawer-close-v3": True},
            "Close the drawer",
            "success",
            "drawer-close-v3",
        ),
        ({"drawer-open-v3": False, "drawer-close-v3": True}, "open the drawer", "failure", "drawer-open-v3"),
        ({"drawer-open-v3": False, "drawer-close-v3": True}, "tidy up", "unknown", "drawer-open-v3"),
        ({"drawer-open-v3": True}, "tidy up", "success", "drawer-open-v3"),
    ],
)
def test_an_episode_by_hand_is_judged_by_its_words(
    tmp_path: Path, success: dict[str, bool], words: str, outcome: str, sim_task: str
) -> None:
    truth = write_truth(tmp_path / "truth.npz", success)
    tasks = task_words(load_scene("metaworld_drawer"))
    world = RecordedDeployment(tmp_path / "recording", "episodes", truth=truth, tasks=tasks)
    assert world.recorder.start()[0]
    world.run(STEPS, words=words)
    assert world.recorder.stop()[0]
    world.recorder.close()
    episodes = open_dataset(tmp_path / "recording" / "dataset").episodes
    assert episodes["outcome"] == [outcome]
    assert episodes["outcome_source"] == ["unknown" if outcome == "unknown" else "simulator"]
    assert (episodes["sim_task"], episodes["seed"]) == ([sim_task], [1000])
