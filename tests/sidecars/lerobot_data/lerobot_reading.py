"""Runs in the sidecar's interpreter: LeRobot's own library loads a dataset and prints what it finds as JSON.

Its environment has neither torchvision nor torchcodec, so PyAV decodes the frames, held to LeRobot's own tolerance.

python lerobot_reading.py FOLDER
"""

from __future__ import annotations

import json
import sys

import av
import numpy as np
import torch

from openral_sidecar.environment.torchvision_shim import ensure_torchvision

ensure_torchvision()

import lerobot.datasets.lerobot_dataset as lerobot_dataset  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402


def decode(path: str, stamps: list[float], tolerance_s: float, backend: str | None = None) -> torch.Tensor:
    """Return (N, 3, H, W) 0..1: the frame at each stamp [s]."""
    with av.open(str(path)) as container:
        frames = [(float(frame.time), frame) for frame in container.decode(video=0)]
    found = []
    for stamp in stamps:
        at, frame = min(frames, key=lambda pair: abs(pair[0] - stamp))
        assert abs(at - stamp) < tolerance_s, (at, stamp)
        found.append(torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1) / 255)
    return torch.stack(found)


lerobot_dataset.decode_video_frames = decode


def main(folder: str) -> None:
    dataset = LeRobotDataset("local/recorded", root=folder, video_backend="pyav")
    rows = [dataset[number] for number in range(len(dataset))]
    found = {
        "frames": dataset.num_frames,
        "episodes": dataset.num_episodes,
        "fps": dataset.fps,
        "cameras": dataset.meta.video_keys,
        "tasks": [row["task"] for row in rows],
        "greys": {
            key: [float(np.asarray(row[key]).mean() * 255) for row in rows] for key in dataset.meta.video_keys
        },
        "numbers": {
            key: [np.asarray(row[key]).reshape(-1).tolist() for row in rows]
            for key in ("observation.state", "action", "action.executed", "intervention", "timestamp")
        },
        "mean": np.asarray(dataset.meta.stats["observation.state"]["mean"]).tolist(),
        "picture_mean": np.asarray(dataset.meta.stats[dataset.meta.video_keys[0]]["mean"]).shape,
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
