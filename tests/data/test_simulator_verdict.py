"""The simulator's verdict on an episode, where its record covers the episode in whole, in part or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from openral_data.recording.outcome import FAILURE, SUCCESS, UNKNOWN, SimulatorVerdict, simulator_verdict


def record(path: Path, end_s: float) -> Path:
    """Write the record of a world that was reset to state 7 at 0 s, and whose task is done between 3 and 5 s."""
    stamps = np.arange(0.0, end_s, 0.1)
    done = (stamps >= 3.0) & (stamps < 5.0)
    resets = {"reset_stamp_s": [0.0], "reset_task": ["drawer"], "reset_init": [7]}
    np.savez(path, stamp_s=stamps, success=done[:, None], tasks=["metaworld/drawer"], **resets)
    return path


@pytest.mark.parametrize(
    ("begin_s", "end_s", "verdict"),
    [
        (1.0, 4.0, SimulatorVerdict(SUCCESS, "drawer", 7)),
        (1.0, 6.0, SimulatorVerdict(FAILURE, "drawer", 7)),
        (3.5, 20.0, SimulatorVerdict(SUCCESS, "drawer", 7)),
        (4.95, 20.0, SimulatorVerdict(UNKNOWN, "drawer")),
        (100.0, 120.0, SimulatorVerdict(UNKNOWN, "drawer")),
    ],
    ids=["within", "after it", "in part", "it ends before", "of a world that began anew"],
)
def test_the_verdict_is_of_a_moment_in_the_episode(
    tmp_path: Path, begin_s: float, end_s: float, verdict: SimulatorVerdict
) -> None:
    truth = record(tmp_path / "truth.npz", 4.91 if end_s > 10 else 10.0)
    assert simulator_verdict(truth, begin_s, end_s, "", 0.0) == verdict
