"""A dataset of a single task has the columns of any other, with one column a task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_core.errors import DatasetError
from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png
from openral_data.lerobot_v3 import DatasetWriter, open_dataset

CAMERA, FRAMES = "observation.images.camera1", 3
PICTURE = encode_png(np.zeros((16, 16, 3), np.uint8))


def write(root: Path, pictures: list[bytes], success: NDArray[np.bool_], near: NDArray[np.float32]) -> None:
    """Write an episode of three frames."""
    form = DatasetMetadata(10, {CAMERA: (16, 16)}, "ee_pos3_gripper1", 4, 1, {"push": "push the puck"}, "dot")
    writer = DatasetWriter(root, form)
    shown = Episode(
        "push",
        "policy",
        0,
        0,
        {CAMERA: pictures},
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


def test_one_task_s_labels_come_back_as_one_column(tmp_path: Path) -> None:
    success = np.array([[False], [False], [True]])
    near = np.linspace(1, 0, FRAMES, dtype=np.float32)[:, None]
    write(tmp_path, [PICTURE] * FRAMES, success, near)
    names = ["label.success", "label.hand_to_object", "task_index", "observation.state"]
    found = open_dataset(tmp_path).columns(names)
    assert found["label.success"].tolist() == success.tolist()
    assert found["label.hand_to_object"].tolist() == near.tolist()
    assert found["task_index"].tolist() == [0] * FRAMES
    assert found["observation.state"].shape == (FRAMES, 4)


@pytest.mark.parametrize("damaged", [b"", PICTURE[:20]])
def test_a_picture_that_cannot_be_decoded_is_told_with_its_file_and_row(
    tmp_path: Path, damaged: bytes
) -> None:
    nothing = np.zeros((FRAMES, 1), np.float32)
    write(tmp_path, [PICTURE, damaged, PICTURE], nothing > 0, nothing)
    with pytest.raises(DatasetError, match=r"file-000\.parquet row 1: observation.*bytes are not an image"):
        list(open_dataset(tmp_path).images(CAMERA))
