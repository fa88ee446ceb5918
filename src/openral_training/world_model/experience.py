"""A dataset of rollouts in the form in which a world model is trained on it: rows of episodes, and windows of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import ContractError
from openral_data.lerobot_v3 import Dataset
from openral_training.world_model.statistics import ActionScale


@dataclass(frozen=True)
class Rollouts:
    """N frames of E consecutive episodes, with labels of K tasks."""

    state: NDArray[np.float32]
    """(N, S) state in each frame."""
    action: NDArray[np.float32]
    """(N, A) action executed after each frame."""
    success: NDArray[np.bool_]
    """(N, K) whether each task is solved in the frame."""
    first: NDArray[np.int64]
    """(E,) row of each episode's first frame."""
    last: NDArray[np.int64]
    """(E,) row of each episode's last frame."""
    task: tuple[str, ...]
    """(E,) the attempted task."""
    init_id: tuple[int, ...]
    """(E,) initial state."""
    words: dict[str, str]
    """Sentence of each of the K tasks."""

    def rows(self, episodes: NDArray[np.int64], *, executed: bool = False) -> NDArray[np.int64]:
        """Return the rows of the frames of episodes.

        Args:
            episodes: (B,) their indices.
            executed: leave each episode's last frame out, whose action was not executed.
        """
        end = self.last[episodes] + (0 if executed else 1)
        return np.concatenate([np.arange(*span) for span in zip(self.first[episodes], end, strict=True)])


@dataclass(frozen=True)
class Windows:
    """B windows of episodes, each with F condition frames and the T frames after them."""

    rows: NDArray[np.int64]
    """(B, F + T) rows of frames; before an episode's begin its first frame is repeated, after its end the last one."""
    known: NDArray[np.bool_]
    """(B, T) whether a frame is within the episode."""
    past_actions: NDArray[np.float32]
    """(B, F, A) normalised actions that led to the condition frames; zeros where none did."""
    actions: NDArray[np.float32]
    """(B, T, A) normalised actions that lead to the frames after them."""


def load_rollouts(dataset: Dataset) -> Rollouts:
    """Read all data but the images.

    Raises:
        ContractError: the dataset does not have the executed actions.
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
    said = dataset.sentences()
    if missing := [task for number, task in enumerate(dataset.tasks) if number not in said]:
        raise ContractError(
            f"{dataset.root / 'meta' / 'tasks.parquet'}: has no sentence of {missing[0]}; add it"
        )
    return Rollouts(
        state,
        action,
        success,
        first,
        last,
        tuple(dataset.episodes["sim_task"]),
        tuple(dataset.episodes["init_id"]),
        {task: said[number] for number, task in enumerate(dataset.tasks)},
    )


def windows(
    rollouts: Rollouts,
    scale: ActionScale,
    episodes: NDArray[np.int64],
    present: NDArray[np.int64],
    frames: int,
    ahead: int,
) -> Windows:
    """Cut windows out of episodes.

    Args:
        rollouts: all of them.
        scale: of the actions.
        episodes: (B,) index of the episode of each window.
        present: (B,) index of the last condition frame within the episode.
        frames: F, the number of condition frames.
        ahead: T, the number of frames after them.
    """
    first, last = rollouts.first[episodes, None], rollouts.last[episodes, None]
    wanted = first + present[:, None] + np.arange(1 - frames, ahead + 1)
    rows = np.clip(wanted, first, last)
    actions = scale.normalised(rollouts.action[np.clip(wanted - 1, first, last - 1)])
    actions[wanted <= first] = 0.0
    return Windows(rows, (wanted <= last)[:, frames:], actions[:, :frames], actions[:, frames:])


def held_out(rollouts: Rollouts, share: float) -> NDArray[np.bool_]:
    """Return (E,) whether an episode is held out for evaluation: those of the last `share` of initial states are.

    With a share above 0 at least one state is held out, if there are several.
    """
    kept = held_out_ids(rollouts.init_id, share)
    return np.array([init_id in kept for init_id in rollouts.init_id])


def held_out_ids(init_ids: Iterable[int], share: float) -> set[int]:
    """Return the last `share` of the initial states of a training, see `held_out`."""
    ids = sorted(set(init_ids))
    count = max(round(share * len(ids)), 1) if share > 0 and len(ids) > 1 else 0
    return set(ids[len(ids) - count :])
