"""A LeRobot checkpoint's files, written by hand, and a server of scripted chunks: no LeRobot is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_policy_nodes.families.lerobot.features import Features

CAMERA = "observation.images.camera1"
ROWS = 20


def write_checkpoint(folder: Path, kind: str = "smolvla") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    config = {"type": kind, "vlm_model_name": "HuggingFaceTB/SmolVLM2-500M-Video-Instruct"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    for name in ("policy_preprocessor", "policy_postprocessor"):
        steps = [{"registry_name": "device_processor", "config": {"device": "cuda"}}]
        (folder / f"{name}.json").write_text(json.dumps({"name": name, "steps": steps}))
    return folder


def features(**changes: Any) -> Features:
    values: dict[str, Any] = {
        "kind": "smolvla",
        "images": {CAMERA: (3, 32, 32)},
        "any_size": True,
        "state": 4,
        "other": (),
        "action": 4,
        "rows": ROWS,
        "n_action_steps": 8,
        "n_obs_steps": 1,
        "normalization": {"STATE": "MEAN_STD"},
        "versions": {"lerobot": "0.4.4"},
    }
    return Features(**{**values, **changes})


class ScriptedModel:
    """Stands where the sidecar has its LeRobotModel: row h of the chunk is the state plus h, plus calls so far."""

    def __init__(self, promised: Features) -> None:
        self.features = promised
        self.calls: dict[str, int] = {}

    def reset(self, episodes: list[str]) -> None:
        for episode in episodes:
            self.calls.pop(episode, None)

    def predict(
        self,
        images: dict[str, NDArray[np.uint8]],
        state: NDArray[np.float32],
        instructions: list[str],
        episodes: list[str],
    ) -> NDArray[np.float32]:
        seen = np.array([self.calls.get(episode, 0) for episode in episodes], np.float32)
        for episode in episodes:
            self.calls[episode] = self.calls.get(episode, 0) + 1
        rows = np.arange(self.features.rows, dtype=np.float32)
        return state[:, None, :] + rows[None, :, None] + 100 * seen[:, None, None]
