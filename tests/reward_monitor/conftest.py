"""A reward skill of the fake family, written as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from openral_core.registry import RSkillPackage, resolve

EMPTY_SAFETENSORS = (2).to_bytes(8, "little") + b"{}"

REWARD = {
    "frame_window_s": 20.0,
    "target_fps": 4.0,
    "success_threshold": 0.8,
    "check_floor": 0.5,
    "plateau_window_s": 2.0,
    "plateau_tolerance": 0.05,
}

MANIFEST = {
    "name": "tests/rskill-fake-progress",
    "version": "0.1.0",
    "license": "apache-2.0",
    "role": "s2",
    "kind": "reward",
    "model_family": "fake",
    "description": "Calls a frame as far as it is bright",
    "embodiment_tags": ["any"],
    "sensors_required": [{"modality": "rgb"}],
    "weights_uri": "local://model.safetensors",
    "latency_budget": {"per_chunk_ms": 100.0},
    "chunk_size": 1,
    "actions": ["monitor"],
    "reward": REWARD,
}


@pytest.fixture
def make_reward(tmp_path: Path) -> Callable[..., RSkillPackage]:
    """Write a fake reward skill; keywords are its script, `manifest` changes fields of the manifest."""

    def make(manifest: dict[str, Any] | None = None, **script: Any) -> RSkillPackage:
        folder = tmp_path / "fake-progress"
        folder.mkdir(exist_ok=True)
        content = {**MANIFEST, "policy_extras": script, **(manifest or {})}
        (folder / "rskill.yaml").write_text(yaml.safe_dump(content))
        (folder / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
        return resolve(str(folder))

    return make
