"""A stand-in for an RLDX-1 checkpoint with random weights, for tests of the data path only.

It has the inputs and outputs of RLDX-1-FT-LIBERO, checks its inputs as upstream's policy does, and keeps state by
session. Its answer depends on each quarter of each frame, on the state, on the instruction and on the number of calls
in the session, so tests notice a rotated camera, a missing frame, a changed instruction or a missing reset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_sidecar.wires.rldx import ActionPart, ModalityConfig

HORIZON = 16
LABEL = "random weights, proves plumbing only"
VIDEO_KEYS = ("front_view", "left_wrist_view")
STATE_DIMS = {"eef_pos_absolute": 3, "eef_rot_absolute": 3, "gripper_close": 2}
ACTION_DIMS = {"eef_pos_delta": 3, "eef_rot_delta": 3, "gripper_close": 1}
LANGUAGE_KEY = "annotation.human.action.task_description"


def modality_configs(history: Sequence[int]) -> dict[str, ModalityConfig]:
    """Return the configuration of RLDX-1-FT-LIBERO, with frames at these control steps relative to the present one."""
    parts = (("DELTA", "EEF"), ("DELTA", "EEF"), ("ABSOLUTE", "NON_EEF"))
    actions = tuple(ActionPart(rep, kind, "DEFAULT") for rep, kind in parts)
    return {
        "video": ModalityConfig(tuple(history), VIDEO_KEYS),
        "state": ModalityConfig((0,), tuple(STATE_DIMS)),
        "action": ModalityConfig(tuple(range(HORIZON)), tuple(ACTION_DIMS), action_configs=actions),
        "language": ModalityConfig((0,), (LANGUAGE_KEY,)),
    }


class ConformanceModel:
    """A policy in upstream's native layout.

    Observations are video {camera: (B, T, H, W, 3)}, state {key: (B, 1, D)} and language {key: B lists of one text};
    actions are {key: (B, 16, D)}.
    """

    def __init__(self, history: Sequence[int], *, strict: bool, seed: int = 0) -> None:
        self.modality_configs = modality_configs(history)
        self.strict = strict
        self._seed = seed
        self._sessions: dict[str, int] = {}
        """Session -> index of its last call, in the place of the memory tokens of a checkpoint with memory."""

    def get_modality_config(self) -> dict[str, ModalityConfig]:
        """Return the inputs and outputs of the checkpoint."""
        return self.modality_configs

    def get_action(
        self, observation: dict[str, Any], options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return (action, info), with actions float32 in -1..1.

        Raises:
            AssertionError: the model is strict, and the observation does not fit it.
            KeyError: the model is not strict, and a key is missing.
            ValueError: the options are malformed.
        """
        if self.strict:
            self.check_observation(observation)
        videos = [observation["video"][key] for key in VIDEO_KEYS]
        states = [observation["state"][key] for key in STATE_DIMS]
        sentences = [words[0] for words in observation["language"][LANGUAGE_KEY]]
        batch = len(videos[0])
        ages = [self._age(name) for name in _sessions(options, batch)]
        rows = [
            _features([video[i] for video in videos], [state[i] for state in states], sentences[i], ages[i])
            for i in range(batch)
        ]
        return self._forward(np.stack(rows)), {"conformance": LABEL}

    def reset(self, options: dict[str, Any] | None = None) -> dict[str, Any]:
        """Delete the sessions of `session_ids`, or all; return those that existed."""
        names = (
            list(self._sessions)
            if options is None or "session_ids" not in options
            else options["session_ids"]
        )
        return {"cleared_sessions": [name for name in names if self._sessions.pop(name, None) is not None]}

    def check_observation(self, observation: dict[str, Any]) -> None:
        """Check a nested observation against the modality configuration. Raises AssertionError: it does not fit."""
        for modality in ("video", "state", "language"):
            assert modality in observation, f"Observation must contain a '{modality}' key"
        frames = len(self.modality_configs["video"].delta_indices)
        for key in VIDEO_KEYS:
            _check_array("Video", key, observation["video"], np.uint8, (None, frames, None, None, 3))
        for key, dim in STATE_DIMS.items():
            _check_array("State", key, observation["state"], np.float32, (None, 1, dim))
            assert np.isfinite(observation["state"][key]).all(), f"Non-finite values in state key '{key}'"
        words = observation["language"].get(LANGUAGE_KEY)
        assert words is not None, f"Language key '{LANGUAGE_KEY}' must be in observation"
        assert all(len(item) == 1 and isinstance(item[0], str) for item in words), "Language must be [[str]]"

    def _forward(self, features: NDArray[np.float64]) -> dict[str, Any]:
        width = HORIZON * sum(ACTION_DIMS.values())
        weights = np.random.default_rng([self._seed, features.shape[1]]).normal(
            size=(features.shape[1], width)
        )
        flat = np.tanh(0.5 * features @ weights).reshape(len(features), HORIZON, -1).astype(np.float32)
        action, begin = {}, 0
        for key, dim in ACTION_DIMS.items():
            action[key] = flat[..., begin : begin + dim]
            begin += dim
        action["gripper_close"] = (action["gripper_close"] > 0).astype(np.float32)
        return action

    def _age(self, session: str) -> int:
        self._sessions[session] = self._sessions.get(session, -1) + 1
        return self._sessions[session]


def _features(
    videos: Sequence[NDArray[Any]], states: Sequence[NDArray[Any]], sentence: str, age: int
) -> NDArray[np.float64]:
    """Return the features of one sample: mean colours of the quarters of every frame, state, hash of words, age."""
    quarters = []
    for video in videos:
        _, height, width, _ = video.shape
        for rows in (slice(None, height // 2), slice(height // 2, None)):
            for columns in (slice(None, width // 2), slice(width // 2, None)):
                quarters.append(video[:, rows, columns].mean(axis=(1, 2)).ravel() / 255.0)
    # Upstream lowers the case of instructions and strips their punctuation.
    plain = "".join(letter for letter in sentence.lower() if letter.isalnum() or letter.isspace())
    words = np.frombuffer(hashlib.sha256(plain.encode()).digest()[:8], np.uint8) / 255.0
    return np.concatenate([*quarters, *(state.ravel() for state in states), words, [np.tanh(age)]])


def _sessions(options: Mapping[str, Any] | None, batch: int) -> list[str]:
    """Return the session of each observation, from `options`; without `session_ids` all are in session `default`."""
    if options is not None and not isinstance(options, dict):
        raise ValueError(f"options must be a dict, got {type(options).__name__}")
    names = (options or {}).get("session_ids")
    if names is None:
        return ["default"] * batch
    if len(names) != batch:
        raise ValueError(f"session_ids length {len(names)} != batch size {batch}")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise ValueError(f"session_ids[{i}] must be str, got {type(name).__name__}")
    return list(names)


def _check_array(
    kind: str, key: str, values: Mapping[str, Any], dtype: type, shape: tuple[int | None, ...]
) -> None:
    assert key in values, f"{kind} key '{key}' must be in observation"
    array = values[key]
    name = np.dtype(dtype).name
    assert isinstance(array, np.ndarray), f"{kind} key '{key}' must be a numpy array. Got {type(array)}"
    assert array.dtype == dtype, (
        f"{kind} key '{key}' must be a numpy array of type np.{name}. Got {array.dtype}"
    )
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    assert fits, f"{kind} key '{key}' must be a numpy array of shape {shape}, got {array.shape}"
