"""A skill that fits the Sawyer and the drawer, as text, and weights for it."""

from __future__ import annotations

import json
import struct
from pathlib import Path

SEED = Path(__file__).parent / "example_skill.rskill.yaml"
MANIFEST = """\
name: openral/rskill-example
version: "1.2.3"
license: apache-2.0
kind: vla
model_family: mini
description: "Opens things."
embodiment_tags: [sawyer]
sensors_required:
  - {modality: rgb, vla_feature_key: observation.images.camera1, min_width: 64, min_height: 64}
actuators_required:
  - kind: joint_position
    control_mode_semantics: {mode: absolute}
weights_uri: "local://model.safetensors"
image_preprocessing: {flip_180: false}
state_contract: {layout: ee_pos3_gripper1, dim: 4}
action_contract: {dim: 4, representation: delta_ee_3d_plus_gripper, control_hz: 80, step_m: 0.01}
chunk_size: 16
n_action_steps: 4
latency_budget: {per_chunk_ms: 50}
actions: [open]
evaluated_tasks: [metaworld]
"""


def write_safetensors(path: Path, *, cut: int = 0, count: int = 2) -> None:
    """Write one tensor of `count` floats in the safetensors format, `cut` bytes short."""
    header = json.dumps({"w": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}).encode()
    payload = struct.pack("<Q", len(header)) + header + bytes(4 * count)
    path.write_bytes(payload[: len(payload) - cut])


def write_skill(folder: Path) -> Path:
    """Write manifest, configuration and weights, and return their folder."""
    folder.mkdir(parents=True)
    (folder / "rskill.yaml").write_text(MANIFEST)
    (folder / "config.json").write_text('{"family": "mini"}')
    write_safetensors(folder / "model.safetensors")
    return folder
