"""A dataset of rollouts in the form that a world model learns from: whole episodes as rows, and windows of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_data.lerobot_v3 import Dataset
from openral_training.world_model.statistics import ActionScale


@dataclass(frozen=True)
class Rollouts:
    """N frames of E episodes, one after another."""

    state: NDArray[np.float32]
    """(N, S)"""
    action: NDArray[np.float32]
    """(N, A) executed after each frame."""
    success: NDArray[np.bool_]
    """(N, K) whether each task is solved in the frame."""
    first: NDArray[np.int64]
    """(E,) row of each episode's first frame."""
    last: NDArray[np.int64]
    """(E,) row of its last one."""
    task: tuple[str, ...]
    """(E,) that was attempted."""
    init_id: tuple[int, ...]
    """(E,) initial state."""
    words: dict[str, str]
    """Sentence of each of the K tasks."""

    @property
    def actions_executed(self) -> NDArray[np.float32]:
        """(N - E, A) without those after each episode's last frame, which nobody executed."""
        kept = np.ones(len(self.action), np.bool_)
        kept[self.last] = False
        return self.action[kept]


@dataclass(frozen=True)
class Windows:
    """B pieces of episodes: the rows of F condition frames and of the T frames after them."""

    rows: NDArray[np.int64]
    """(B, F + T) frames; the first is repeated where the episode had not begun, the last where it was over."""
    known: NDArray[np.bool_]
    """(B, T) whether the frame is of the episode."""
    led: NDArray[np.float32]
    """(B, F, A) normalised actions that led to the condition frames; zeros where none did."""
    actions: NDArray[np.float32]
    """(B, T, A) normalised actions that lead to the frames after them."""


def load_rollouts(dataset: Dataset) -> Rollouts:
    """Read everything but the pictures.

    Raises:
        ContractError: the dataset does not hold what was executed.
    """
    names = ("observation.state", "action", "label.ahead", "label.success")
    state, action, ahead, success = dataset.columns(names).values()
    first = np.array(dataset.episodes["dataset_from_index"])
    last = np.array(dataset.episodes["dataset_to_index"]) - 1
    if set(dataset.episodes["behaviour"]) != {"policy"} or ahead[last].any():
        raise ContractError(
            f"{dataset.root}: holds labels of experts, not what was executed; "
            "make rollouts with `openral world-model collect`"
        )
    sentences = pq.read_table(dataset.root / "meta" / "tasks.parquet")["task"].to_pylist()
    return Rollouts(
        state,
        action,
        success,
        first,
        last,
        tuple(dataset.episodes["sim_task"]),
        tuple(dataset.episodes["init_id"]),
        dict(zip(dataset.tasks, sentences, strict=True)),
    )


def windows(
    rollouts: Rollouts,
    scale: ActionScale,
    episodes: NDArray[np.int64],
    present: NDArray[np.int64],
    frames: int,
    ahead: int,
) -> Windows:
    """Cut pieces out of episodes.

    Args:
        rollouts: all of them.
        scale: of the actions.
        episodes: (B,) which.
        present: (B,) frame of the episode, counted from 0, that is the last condition frame.
        frames: F
        ahead: T
    """
    first, last = rollouts.first[episodes, None], rollouts.last[episodes, None]
    wanted = first + present[:, None] + np.arange(1 - frames, ahead + 1)
    rows = np.clip(wanted, first, last)
    actions = scale.normalised(rollouts.action[np.clip(wanted - 1, first, last - 1)])
    actions[wanted <= first] = 0.0
    return Windows(rows, (wanted <= last)[:, frames:], actions[:, :frames], actions[:, frames:])


def held_out(rollouts: Rollouts, share: float) -> NDArray[np.bool_]:
    """Return (E,) which episodes are kept for judging: all those of the last `share` of initial states.

    A share above 0 keeps at least one state, if there are several.
    """
    ids = sorted(set(rollouts.init_id))
    count = max(round(share * len(ids)), 1) if share > 0 and len(ids) > 1 else 0
    kept = set(ids[len(ids) - count :])
    return np.array([init_id in kept for init_id in rollouts.init_id])
