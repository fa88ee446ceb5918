"""A world that costs nothing to compute and has three large cameras, for what looking at it costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml
from system_files import load_truth

CONTROL_HZ = 90
CAMERAS = ("corner2", "front", "wrist")


def write_world(folder: Path, camera_hz: float) -> Path:
    """Write its scene into a folder, with cameras of 640x480 at a rate [Hz], and return the file."""
    scene = {
        "scene": {
            "id": "fake",
            "backend": "mock",
            "observation_height": 480,
            "observation_width": 640,
            "cameras": [{"name": name, "rate_hz": camera_hz} for name in CAMERAS],
            "backend_options": {"family": "fake", "tasks": ["drawer-open-v3"], "init_id": 3},
        },
        "robot_id": "sawyer",
        "control_hz": CONTROL_HZ,
        "action": {
            "representation": "delta_ee_3d_plus_gripper",
            "dim": 4,
            "low": [-1] * 4,
            "high": [1] * 4,
            "step_m": 0.01,
        },
        "workspace": {"low": [-0.55, 0.15, -0.05], "high": [0.55, 1.05, 0.55]},
    }
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump(scene))
    return path


def control_rate(run_dir: Path, begin_s: float, end_s: float) -> tuple[float, float]:
    """Return the share of its control rate that a run kept, and that of steps two periods after the last.

    Args:
        run_dir: of a deployment that has ended.
        begin_s: [s] monotonic, from which it counts.
        end_s: [s] up to which.
    """
    wall = load_truth(run_dir)["wall_s"]
    wall = wall[(wall >= begin_s) & (wall <= end_s)]
    gaps = np.diff(wall) * CONTROL_HZ
    return (len(wall) - 1) / (wall[-1] - wall[0]) / CONTROL_HZ, float((gaps > 2.0).mean())
