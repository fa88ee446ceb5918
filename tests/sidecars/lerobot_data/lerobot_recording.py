"""Runs in the sidecar's interpreter: LeRobot's own library records a small dataset with two cameras as video.

python lerobot_recording.py FOLDER
"""

from __future__ import annotations

import sys

import numpy as np

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()

from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402

FPS, SIZE, FRAMES = 20, (96, 128), (30, 24, 40)
"""[Hz], (height, width) [px], and the frames of each episode."""
TASKS = ("pick up the cube", "push the cube")
FEATURES = {
    "observation.images.front": {
        "dtype": "video",
        "shape": (*SIZE, 3),
        "names": ["height", "width", "channels"],
    },
    "observation.images.wrist": {
        "dtype": "video",
        "shape": (*SIZE, 3),
        "names": ["height", "width", "channels"],
    },
    "observation.state": {"dtype": "float32", "shape": (3,), "names": ["x", "y", "z"]},
    "observation.fingers": {"dtype": "float32", "shape": (2,), "names": ["left", "right"]},
    "action": {"dtype": "float32", "shape": (4,), "names": ["dx", "dy", "dz", "gripper"]},
}


def frame(episode: int, step: int) -> dict[str, np.ndarray]:
    """Return what is seen, felt and done: grey level and numbers tell episode and step."""
    level = 40 + 60 * episode + step
    front, wrist = (np.full((*SIZE, 3), value, np.uint8) for value in (level, 255 - level))
    return {
        "observation.images.front": front,
        "observation.images.wrist": wrist,
        "observation.state": np.array([episode, step, 0.5], np.float32),
        "observation.fingers": np.array([step % 2, -1], np.float32),
        "action": np.array([step / 100, -step / 100, episode / 2, (-1) ** step], np.float32),
    }


def main(folder: str) -> None:
    dataset = LeRobotDataset.create("local/cubes", FPS, FEATURES, root=folder, robot_type="sawyer")
    for episode, count in enumerate(FRAMES):
        for step in range(count):
            dataset.add_frame({**frame(episode, step), "task": TASKS[episode % 2]})
        dataset.save_episode()
    dataset.finalize()


if __name__ == "__main__":
    main(sys.argv[1])
