"""The manifest of a reward skill of the fake family, a file of weights that is none, and a scene to watch."""

from __future__ import annotations

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

SIZE = 16
"""[px] side of the scene's pictures."""
SCENE = {
    "scene": {
        "id": "metaworld",
        "backend": "mock",
        "observation_height": SIZE,
        "observation_width": SIZE,
        "cameras": [{"name": "corner2", "rate_hz": 20}, {"name": "wrist", "rate_hz": 20}],
    },
    "robot_id": "sawyer",
    "control_hz": 80,
    "action": {"representation": "joint_positions", "dim": 4, "low": [-1] * 4, "high": [1] * 4},
}
