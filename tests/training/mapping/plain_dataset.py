"""A small LeRobot v3 dataset as LeRobot itself writes it: cameras as videos of several episodes, no labels of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from openral_sim_bridge.rendering.mp4 import write_mp4

FPS, HEIGHT, WIDTH = 20, 96, 128
LENGTHS = (30, 24, 40)
TASKS = ("pick up the cube", "push the cube")
FRONT, WRIST = "observation.images.front", "observation.images.wrist"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
DATA = "data/chunk-000/file-000.parquet"
RECIPE = """\
cameras:
  observation.images.camera1: observation.images.front
  observation.images.camera2: observation.images.wrist
state:
  - observation.state
  - {feature: observation.fingers, columns: [0]}
words:
  push the cube: [shove the cube away]
manifest:
  name: local/rskill-cubes
  version: "0.1.0"
  license: apache-2.0
  description: Picks up and pushes a cube.
  embodiment_tags: [sawyer]
  sensors_required:
    - {modality: rgb, vla_feature_key: observation.images.camera1, min_width: 96, min_height: 96}
    - {modality: rgb, vla_feature_key: observation.images.camera2, min_width: 96, min_height: 96}
  actuators_required:
    - {kind: cartesian_delta, n_dof: 3, control_mode_semantics: {mode: delta, reference_frame: world}}
    - {kind: gripper_binary, n_dof: 1, control_mode_semantics: {mode: absolute, gripper_convention: binary_close_one}}
  state_contract: {layout: ee_pos3_gripper1, dim: 4}
  action_contract: {dim: 4, representation: delta_ee_3d_plus_gripper, control_hz: 20, step_m: 0.01}
  chunk_size: 16
  n_action_steps: 4
  latency_budget: {per_chunk_ms: 100}
  actions: [pick, push]
  objects: [cube]
"""


def level(episode: int, step: int) -> int:
    """Return the grey of the front camera; the wrist camera's is 255 less this."""
    return 40 + 60 * episode + step


def write_dataset(root: Path) -> Path:
    """Write three episodes of two tasks and return the folder."""
    ends = np.cumsum(LENGTHS)
    episode = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    step = np.concatenate([np.arange(length) for length in LENGTHS])
    for folder in ("meta/episodes/chunk-000", "data/chunk-000"):
        (root / folder).mkdir(parents=True)
    for camera in (FRONT, WRIST):
        video = root / "videos" / camera / "chunk-000" / "file-000.mp4"
        video.parent.mkdir(parents=True)
        greys = [
            level(e, s) if camera == FRONT else 255 - level(e, s) for e, s in zip(episode, step, strict=True)
        ]
        write_mp4(video, (np.full((HEIGHT, WIDTH, 3), grey, np.uint8) for grey in greys), fps=FPS)
    vectors = {
        "observation.state": np.stack([episode, step, np.full(len(step), 0.5)], axis=1),
        "observation.fingers": np.stack([step % 2, np.full(len(step), -1)], axis=1),
        "action": np.stack([step / 100, -step / 100, episode / 2, (-1.0) ** step], axis=1),
    }
    columns = {name: _fixed(rows.astype(np.float32)) for name, rows in vectors.items()}
    numbers = {
        "frame_index": step,
        "episode_index": episode,
        "index": np.arange(len(step)),
        "task_index": episode % 2,
    }
    columns["timestamp"] = pa.array((step / FPS).astype(np.float32))
    columns |= {name: pa.array(values.astype(np.int64)) for name, values in numbers.items()}
    pq.write_table(pa.table(columns), root / DATA)
    pq.write_table(
        pa.Table.from_pylist([_episode(i, int(end)) for i, end in enumerate(ends)]), root / EPISODES
    )
    tasks = pa.table({"task_index": [0, 1], "__index_level_0__": list(TASKS)})
    pandas = {"index_columns": ["__index_level_0__"], "columns": [], "column_indexes": []}
    pq.write_table(tasks.replace_schema_metadata({"pandas": json.dumps(pandas)}), root / "meta/tasks.parquet")
    (root / "meta/info.json").write_text(json.dumps(_info(vectors)))
    return root


def change_json(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Rewrite a JSON file in place."""
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def change_column(path: Path, name: str, edit: Callable[[Any], Any]) -> None:
    """Rewrite one column of a parquet file, as Python values."""
    table = pq.read_table(path)
    field = table.schema.field(name)
    changed = pa.array(edit(table[name].to_pylist()), field.type)
    pq.write_table(table.set_column(table.schema.names.index(name), field, changed), path)


def _fixed(rows: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])


def _episode(index: int, end: int) -> dict[str, Any]:
    first = end - LENGTHS[index]
    row: dict[str, Any] = {
        "episode_index": index,
        "tasks": [TASKS[index % 2]],
        "length": LENGTHS[index],
        "data/chunk_index": 0,
        "data/file_index": 0,
        "dataset_from_index": first,
        "dataset_to_index": end,
        "stats/action/min": [0.0, 0.0, 0.0, 0.0],
        "meta/episodes/chunk_index": 0,
        "meta/episodes/file_index": 0,
    }
    for camera in (FRONT, WRIST):
        row |= {f"videos/{camera}/chunk_index": 0, f"videos/{camera}/file_index": 0}
        row |= {f"videos/{camera}/from_timestamp": first / FPS, f"videos/{camera}/to_timestamp": end / FPS}
    return row


def _info(vectors: dict[str, np.ndarray]) -> dict[str, Any]:
    video = {"dtype": "video", "shape": [HEIGHT, WIDTH, 3], "names": ["height", "width", "channels"]}
    numbers = {"timestamp": "float32"} | dict.fromkeys(
        ("frame_index", "episode_index", "index", "task_index"), "int64"
    )
    return {
        "codebase_version": "v3.0",
        "robot_type": "sawyer",
        "total_episodes": len(LENGTHS),
        "total_frames": sum(LENGTHS),
        "total_tasks": len(TASKS),
        "chunks_size": 1000,
        "fps": FPS,
        "splits": {"train": f"0:{len(LENGTHS)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
        "features": {
            FRONT: video,
            WRIST: video,
            **{
                name: {"dtype": "float32", "shape": [rows.shape[1]], "names": None}
                for name, rows in vectors.items()
            },
            **{name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in numbers.items()},
        },
    }
