"""Upstream's wrapper for simulations: flat keys, and LIBERO's names for them.

It behaves as `RLDXSimPolicyWrapper` of rldx/policy/rldx_policy.py, including a contradiction: strict checks require
`action.eef_pos_delta` in an action whose keys its LIBERO path has renamed, so LIBERO needs `--no-strict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from openral_policy_nodes.families.rldx.conformance_model import ConformanceModel
from openral_sidecar.wires.rldx import ModalityConfig

_VIDEO_ALIASES = {"video.image": "video.front_view", "video.wrist_image": "video.left_wrist_view"}


class ConformanceWrapper:
    """Takes `video.<camera>`, `state.<key>` and the language key, and returns `action.<key>`."""

    def __init__(self, policy: ConformanceModel, *, strict: bool) -> None:
        self.policy = policy
        self.strict = strict

    def get_modality_config(self) -> dict[str, ModalityConfig]:
        """Return the configuration of the wrapped policy."""
        return self.policy.get_modality_config()

    def reset(self, options: dict[str, Any] | None = None) -> dict[str, Any]:
        """Delete the sessions of `session_ids`, or all; return those that existed."""
        return self.policy.reset(options)

    def get_action(
        self, observation: dict[str, Any], options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return (action, info), with actions float32 in -1..1 under flat keys."""
        _apply_aliases(observation)
        if self.strict:
            self._check_observation(observation)
        nested = {
            modality: {key: observation[f"{modality}.{key}"] for key in self._keys(modality)}
            for modality in ("video", "state")
        }
        nested["language"] = {
            key: [[str(item)] for item in observation[key]] for key in self._keys("language")
        }
        action, info = self.policy.get_action(nested, options)
        is_libero = "state.x" in observation or "video.image" in observation
        flat = (
            _libero_action(action) if is_libero else {f"action.{key}": value for key, value in action.items()}
        )
        if self.strict:
            for key in self._keys("action"):
                assert f"action.{key}" in flat, f"Action key 'action.{key}' must be in action"
        return flat, info

    def _keys(self, modality: str) -> tuple[str, ...]:
        return self.get_modality_config()[modality].modality_keys

    def _check_observation(self, observation: Mapping[str, Any]) -> None:
        for key in self._keys("video"):
            assert f"video.{key}" in observation, f"Video key 'video.{key}' must be in observation"
            frames = len(self.get_modality_config()["video"].delta_indices)
            found = observation[f"video.{key}"].shape[1]
            assert found == frames, f"Video key '{key}'s horizon must be {frames}. Got {found}"
        for key in self._keys("state"):
            assert f"state.{key}" in observation, f"State key 'state.{key}' must be in observation"
        for key in self._keys("language"):
            assert key in observation, f"Language key '{key}' must be in observation"


def _apply_aliases(observation: dict[str, Any]) -> None:
    """Add the model's keys to an observation with LIBERO's keys, which is recognised by `state.x`."""
    if "state.x" not in observation:
        return
    for target, names in (
        ("eef_pos_absolute", ("x", "y", "z")),
        ("eef_rot_absolute", ("roll", "pitch", "yaw")),
    ):
        if all(f"state.{name}" in observation for name in names):
            observation[f"state.{target}"] = np.concatenate(
                [observation[f"state.{name}"] for name in names], -1
            )
    if "state.gripper" in observation:
        observation["state.gripper_close"] = observation["state.gripper"]
    for name, target in _VIDEO_ALIASES.items():
        if name in observation:
            observation[target] = observation[name]


def _libero_action(action: Mapping[str, Any]) -> dict[str, Any]:
    position, rotation = action["eef_pos_delta"], action["eef_rot_delta"]
    flat = {f"action.{axis}": position[..., i : i + 1] for i, axis in enumerate(("x", "y", "z"))}
    flat |= {f"action.{axis}": rotation[..., i : i + 1] for i, axis in enumerate(("roll", "pitch", "yaw"))}
    return {**flat, "action.gripper": 1.0 - action["gripper_close"]}
