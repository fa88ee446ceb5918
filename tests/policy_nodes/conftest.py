"""A skill of the fake family and a scene for it, written as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from openral_core.robot import load_robot
from openral_core.scene import DeployScene, load_scene
from openral_core.types import RobotState
from openral_policy_nodes.inference import SensorSet
from openral_rskill.registry import RSkillPackage, resolve

HORIZON = 16
SIZE = 32
EMPTY_SAFETENSORS = (2).to_bytes(8, "little") + b"{}"

SCENE = {
    "scene": {
        "id": "metaworld",
        "backend": "mock",
        "observation_height": SIZE,
        "observation_width": SIZE,
        "cameras": [{"name": "corner2", "feature_key": "observation.images.camera1", "rate_hz": 20}],
        "backend_options": {"family": "metaworld", "tasks": ["drawer-open-v3"]},
    },
    "robot_id": "sawyer",
    "control_hz": 80,
    "action": {
        "representation": "delta_ee_3d_plus_gripper",
        "dim": 4,
        "low": [-1, -1, -1, -1],
        "high": [1, 1, 1, 1],
        "step_m": 0.01,
    },
    "workspace": {"low": [-0.55, 0.35, 0.0], "high": [0.55, 1.05, 0.55]},
}

MANIFEST = {
    "name": "tests/rskill-fake-arm",
    "version": "0.1.0",
    "license": "apache-2.0",
    "kind": "vla",
    "model_family": "fake",
    "description": "Answers the same action for ever",
    "embodiment_tags": ["sawyer"],
    "sensors_required": [{"modality": "rgb", "vla_feature_key": "observation.images.camera1"}],
    "actuators_required": [
        {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": "world"}}
    ],
    "weights_uri": "local://model.safetensors",
    "latency_budget": {"per_chunk_ms": 50.0, "max_execution_s": 20.0},
    "chunk_size": HORIZON,
    "n_action_steps": 4,
    "state_contract": {"layout": "ee_pos3_gripper1", "dim": 4},
    "action_contract": {"dim": 4, "representation": "delta_ee_3d_plus_gripper", "step_m": 0.01},
    "actions": ["open"],
    "objects": ["drawer"],
    "examples": [{"task": "drawer-open-v3", "phrases": ["open the drawer", "pull the drawer open"]}],
    "evaluated_tasks": ["metaworld"],
}


@pytest.fixture
def scene_path(tmp_path: Path) -> Path:
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(SCENE))
    return path


@pytest.fixture
def scene(scene_path: Path) -> DeployScene:
    return load_scene(scene_path)


@pytest.fixture
def make_skill(tmp_path: Path) -> Callable[..., RSkillPackage]:
    """Write a fake skill; keywords are its script, `manifest` changes fields of the manifest."""

    def make(manifest: dict[str, Any] | None = None, **script: Any) -> RSkillPackage:
        folder = tmp_path / "fake-arm"
        folder.mkdir(exist_ok=True)
        content = {**MANIFEST, "policy_extras": script, **(manifest or {})}
        (folder / "rskill.yaml").write_text(yaml.safe_dump(content))
        (folder / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
        return resolve(str(folder))

    return make


@pytest.fixture
def sensors_at() -> Callable[[int], SensorSet]:
    """Make the synchronised set of one instant [ns]."""
    names = load_robot("sawyer").joint_names

    def make(stamp_ns: int) -> SensorSet:
        state = RobotState(
            stamp_ns * 1e-9,
            names,
            np.zeros(len(names)),
            np.array([0.0, 0.6, 0.2]),
            np.array([0.0, 0.0, 0.0, 1.0]),
            0.1,
        )
        return SensorSet(stamp_ns, {"corner2": np.zeros((SIZE, SIZE, 3), np.uint8)}, state)

    return make
