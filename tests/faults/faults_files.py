"""What a deployment of the mock world is made of: scene, skills, the families' distribution and the file of dials."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import yaml
from system_files import EMPTY_SAFETENSORS

PLUGIN = Path(__file__).with_name("plugin")
SIZE = 32
"""[px] side of the pictures."""
TASKS = {"open the drawer": "drawer-open-v3", "close the drawer": "drawer-close-v3"}
LOW, HIGH = (-0.45, 0.35, 0.05), (0.45, 0.95, 0.45)
"""[m] the workspace; the mock world itself ends some centimetres further out."""
FAMILIES = {
    "openral.policy_families": "faults = faults_family:load",
    "openral.reward_families": "faults_reward = faults_family:load_reward",
}
SCENE: dict[str, Any] = {
    "scene": {
        "id": "metaworld",
        "backend": "mock",
        "observation_height": SIZE,
        "observation_width": SIZE,
        "cameras": [{"name": "corner2", "feature_key": "observation.images.camera1", "rate_hz": 20}],
        "backend_options": {"family": "fake", "tasks": list(TASKS.values())},
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
    "workspace": {"low": list(LOW), "high": list(HIGH)},
}
SKILL: dict[str, Any] = {
    "version": "0.1.0",
    "license": "apache-2.0",
    "kind": "vla",
    "description": "Leads the hand to a point",
    "embodiment_tags": ["sawyer"],
    "sensors_required": [{"modality": "rgb", "vla_feature_key": "observation.images.camera1"}],
    "actuators_required": [
        {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": "world"}}
    ],
    "weights_uri": "local://model.safetensors",
    "latency_budget": {"per_chunk_ms": 50.0, "max_execution_s": 8.0},
    "chunk_size": 16,
    "n_action_steps": 4,
    "state_contract": {"layout": "ee_pos3_gripper1", "dim": 4},
    "action_contract": {"dim": 4, "representation": "delta_ee_3d_plus_gripper", "step_m": 0.01},
    "evaluated_tasks": ["metaworld"],
}
WORDS: dict[str, Any] = {
    "actions": ["open", "close"],
    "objects": ["drawer"],
    "examples": [{"task": task, "phrases": [words]} for words, task in TASKS.items()],
}
REWARD: dict[str, Any] = {
    "version": "0.1.0",
    "license": "apache-2.0",
    "role": "s2",
    "kind": "reward",
    "model_family": "faults_reward",
    "description": "The simulator's own verdict",
    "embodiment_tags": ["any"],
    "sensors_required": [{"modality": "rgb"}],
    "weights_uri": "local://model.safetensors",
    "latency_budget": {"per_chunk_ms": 100.0},
    "chunk_size": 1,
    "actions": ["monitor"],
    "reward": {
        "frame_window_s": 20.0,
        "target_fps": 4.0,
        "success_threshold": 0.8,
        "check_floor": 0.5,
        "plateau_window_s": 6.0,
        "plateau_tolerance": 0.05,
    },
}


class World:
    """A folder with everything that a deployment of the mock world reads, and where it writes its record."""

    def __init__(self, folder: Path) -> None:
        """Write scene and skills below a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.run_dir = folder / "run"
        self._dials = folder / "dials.json"
        self.turn()
        _write_distribution(folder / "site")
        served = self.skill("served", "faults", {"dials": str(self._dials)}, **WORDS)
        steady = self.skill(
            "steady", "fake", {"action": [0.05, 0.0, 0.0, -1.0]}, actions=["wave"], objects=["arm"]
        )
        extras = {"dials": str(self._dials), "run_dir": str(self.run_dir), "tasks": TASKS}
        self.reward = self._write("truth", {**REWARD, "policy_extras": extras})
        self.scene = self.write_scene("scene.yaml", skills=[served, steady], reward_skill=self.reward)

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which the installed commands find the families, and a cache of their own."""
        paths = [str(self.folder / "site"), str(PLUGIN), os.environ.get("PYTHONPATH", "")]
        return {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "OPENRAL_CACHE_HOME": str(self.folder / "cache"),
        }

    def turn(self, **dials: object) -> None:
        """Set the dials, all others off: `policy`, `delay_s`, `monitor`."""
        partial = self._dials.with_suffix(".part")
        partial.write_text(json.dumps(dials))
        partial.replace(self._dials)

    def skill(self, name: str, family: str, extras: dict[str, Any], **fields: Any) -> str:
        """Write a skill and return its reference."""
        return self._write(name, {**SKILL, "model_family": family, "policy_extras": extras, **fields})

    def write_scene(self, name: str, **fields: Any) -> Path:
        """Write the scene with top-level fields changed or added."""
        path = self.folder / name
        path.write_text(
            yaml.safe_dump({**SCENE, **{key: value for key, value in fields.items() if value is not None}})
        )
        return path

    def _write(self, name: str, manifest: dict[str, Any]) -> str:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "rskill.yaml").write_text(yaml.safe_dump({"name": f"tests/rskill-{name}", **manifest}))
        (folder / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
        return str(folder)


def _write_distribution(site: Path) -> None:
    """Write what `pip install` of a distribution with the two families would leave behind."""
    info = site / "faults_family-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faults-family\nVersion: 1.0\n")
    text = "".join(f"[{group}]\n{entry}\n" for group, entry in FAMILIES.items())
    (info / "entry_points.txt").write_text(text)
