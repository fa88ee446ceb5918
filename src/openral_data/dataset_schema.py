"""The metadata of a collected dataset: its columns, the names of their values, and their Arrow types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

STATE_NAMES = {
    "ee_pos3_gripper1": ("ee_x", "ee_y", "ee_z", "gripper_opening"),
    "ee_pos3_rot6_gripper1": (
        "ee_x",
        "ee_y",
        "ee_z",
        "ee_xx",
        "ee_xy",
        "ee_xz",
        "ee_yx",
        "ee_yy",
        "ee_yz",
        "gripper_opening",
    ),
    "metaworld_world": (
        *("hand_x", "hand_y", "hand_z", "gripper_opening"),
        *(
            f"object_{n}_{part}"
            for n in (1, 2)
            for part in ("x", "y", "z", "turn_x", "turn_y", "turn_z", "turn_w")
        ),
        *("goal_x", "goal_y", "goal_z"),
    ),
    "libero_eef8d": ("ee_x", "ee_y", "ee_z", "ee_turn_x", "ee_turn_y", "ee_turn_z", "finger_1", "finger_2"),
}
ACTION_NAMES = {
    4: ("delta_x", "delta_y", "delta_z", "gripper"),
    7: ("delta_x", "delta_y", "delta_z", "turn_x", "turn_y", "turn_z", "gripper"),
}
MAY_BE_UNKNOWN = frozenset({"label.hand_to_object", "label.object_to_target", "label.landmarks"})
"""Columns in which nan means unknown, such as a distance in the scene of another task."""
LANDMARKS = ("object_x", "object_y", "object_z", "target_x", "target_y", "target_z")


@dataclass(frozen=True)
class DatasetMetadata:
    """Properties that all episodes of a dataset have in common."""

    fps: float
    """[Hz] rate of the recorded frames; the chunks contain the control steps between them."""
    cameras: dict[str, tuple[int, int]]
    """Height and width [px] of each camera, by feature key."""
    state_layout: str
    action_dim: int
    """A"""
    chunk_size: int
    """H"""
    words: dict[str, str]
    """Sentence of each of the K simulator tasks by id, in the order of the per-task columns."""
    robot_type: str

    @property
    def tasks(self) -> tuple[str, ...]:
        """The simulator's task ids."""
        return tuple(self.words)

    def features(self) -> dict[str, Any]:
        """Return the `features` of info.json: dtype, shape and names of each column."""
        image = {"dtype": "image", "names": ["height", "width", "channels"]}
        return {
            **{key: {**image, "shape": [*size, 3]} for key, size in self.cameras.items()},
            "observation.state": _vector("float32", STATE_NAMES[self.state_layout]),
            "action": _vector("float32", ACTION_NAMES[self.action_dim]),
            "label.chunk": {"dtype": "float32", "shape": [self.chunk_size * self.action_dim], "names": None},
            "label.ahead": _vector("int64", None),
            "label.success": _vector("bool", self.tasks),
            "label.hand_to_object": _vector("float32", self.tasks),
            "label.object_to_target": _vector("float32", self.tasks),
            "label.landmarks": _vector("float32", LANDMARKS),
            "timestamp": _vector("float32", None),
            **{
                name: _vector("int64", None)
                for name in ("frame_index", "episode_index", "index", "task_index")
            },
        }

    def schema(self) -> pa.Schema:
        """Return the Arrow types, with the metadata by which the package `datasets` recognises image columns."""
        arrow = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}
        columns: list[pa.Field] = []
        notes: dict[str, Any] = {}
        for name, feature in self.features().items():
            if feature["dtype"] == "image":
                columns.append(pa.field(name, pa.struct([("bytes", pa.binary()), ("path", pa.string())])))
                notes[name] = {"_type": "Image"}
                continue
            value = {"dtype": feature["dtype"], "_type": "Value"}
            length, kind = feature["shape"][0], arrow[feature["dtype"]]
            columns.append(pa.field(name, kind if length == 1 else pa.list_(kind, length)))
            notes[name] = value if length == 1 else {"feature": value, "length": length, "_type": "List"}
        return pa.schema(columns, metadata={"huggingface": json.dumps({"info": {"features": notes}})})


def is_folder_name(key: str) -> bool:
    """Return whether the videos of a feature can be in a folder of its name, which does not lead elsewhere."""
    return "/" not in key and "\0" not in key and key not in ("", ".", "..")


def _vector(dtype: str, names: tuple[str, ...] | None) -> dict[str, Any]:
    return {
        "dtype": dtype,
        "shape": [len(names) if names else 1],
        "names": list(names) if names else None,
    }
