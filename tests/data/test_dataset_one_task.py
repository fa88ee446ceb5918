"""A dataset of a single task has the columns of any other, with one column a task."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import DatasetWriter, open_dataset

CAMERA, FRAMES = "observation.images.camera1", 3


def test_one_task_s_labels_come_back_as_one_column(tmp_path: Path) -> None:
    form = DatasetMetadata(10, {CAMERA: (16, 16)}, "ee_pos3_gripper1", 4, 1, {"push": "push the puck"}, "dot")
    success = np.array([[False], [False], [True]])
    near = np.linspace(1, 0, FRAMES, dtype=np.float32)[:, None]
    writer = DatasetWriter(tmp_path, form)
    shown = Episode(
        "push",
        "policy",
        0,
        0,
        {CAMERA: [encode_png(np.zeros((16, 16, 3), np.uint8))] * FRAMES},
        np.zeros((FRAMES, 4), np.float32),
        np.zeros((FRAMES, 1, 4), np.float32),
        np.array([1, 1, 0]),
        success,
        near,
        near,
        np.zeros((FRAMES, 6), np.float32),
    )
    writer.add(shown)
    writer.close()
    names = ["label.success", "label.hand_to_object", "task_index", "observation.state"]
    found = open_dataset(tmp_path).columns(names)
    assert found["label.success"].tolist() == success.tolist()
    assert found["label.hand_to_object"].tolist() == near.tolist()
    assert found["task_index"].tolist() == [0] * FRAMES
    assert found["observation.state"].shape == (FRAMES, 4)
