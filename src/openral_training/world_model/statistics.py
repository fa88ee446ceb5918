"""`dataset_statistics.json`: the range of actions that a world model was trained on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ManifestError
from openral_core.files.atomic import write_atomically

FILE_NAME = "dataset_statistics.json"
LOW, HIGH = "q01", "q99"


@dataclass(frozen=True)
class ActionScale:
    """The 1 % and 99 % quantiles of each number of an action."""

    q01: NDArray[np.float32]
    """(A,) 1 % quantiles."""
    q99: NDArray[np.float32]
    """(A,) 99 % quantiles, at least q01."""

    @property
    def dim(self) -> int:
        """A, the length of an action."""
        return len(self.q01)

    def normalised(self, actions: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Return 2 (a - q01) / (q99 - q01) - 1 of actions (..., A), mostly in -1..1; 0 for constant numbers.

        This is the normalisation of RLinf's world models. It does not clip actions that are out of range.
        """
        width = self.q99 - self.q01
        moves = width > 1e-6
        scaled = 2 * (actions - self.q01) / np.where(moves, width, 1.0) - 1
        return np.where(moves, scaled, 0.0).astype(np.float32)


def action_scale(actions: NDArray[np.float32]) -> ActionScale:
    """Return the scale of N actions (N, A)."""
    low, high = np.quantile(actions, (0.01, 0.99), axis=0)
    return ActionScale(low.astype(np.float32), high.astype(np.float32))


def save_action_scale(folder: Path, scale: ActionScale) -> None:
    """Write the statistics of a world model."""
    content = {"action": {LOW: scale.q01.tolist(), HIGH: scale.q99.tolist()}}
    write_atomically(folder / FILE_NAME, json.dumps(content, indent=2) + "\n")


def load_action_scale(folder: Path, dim: int) -> ActionScale:
    """Read the statistics of a world model.

    Args:
        folder: of the world model.
        dim: A, the length of the world model's actions.

    Raises:
        ManifestError: the file is missing, or not of this form: `{"action": {"q01": [A numbers], "q99": [A numbers]}}`.
    """
    path = folder / FILE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ManifestError(
            f"{path}: no statistics of actions ({error}); write action.q01 and action.q99"
        ) from error
    found = content.get("action") if isinstance(content, dict) else None
    if not isinstance(found, dict):
        raise ManifestError(f"{path}: action: is missing{_nested(content)}; write action.q01 and action.q99")
    low, high = _numbers(path, found, LOW, dim), _numbers(path, found, HIGH, dim)
    if (high < low).any():
        raise ManifestError(
            f"{path}: action.{HIGH}: is below action.{LOW}; write the quantiles of the training data"
        )
    return ActionScale(low, high)


def _numbers(path: Path, found: dict[str, Any], name: str, dim: int) -> NDArray[np.float32]:
    try:
        values = np.asarray(found.get(name), np.float32)
    except (TypeError, ValueError):
        values = np.zeros(0, np.float32)
    if values.shape != (dim,) or not np.isfinite(values).all():
        raise ManifestError(f"{path}: action.{name}: needed {dim} finite numbers, one a number of the action")
    return values


def _nested(content: object) -> str:
    """Return a hint for the error message if the statistics are nested in a key with the name of a dataset."""
    if isinstance(content, dict):
        for name, inner in content.items():
            if isinstance(inner, dict) and "action" in inner:
                return f", it lies in '{name}': take that part out"
    return ""
