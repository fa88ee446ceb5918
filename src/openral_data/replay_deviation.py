"""An episode for replay, and the deviation of the replay from the recording."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import DatasetError, NotFoundError
from openral_data.lerobot_v3 import open_dataset
from openral_data.recorded_scene import recorded_scene


@dataclass(frozen=True)
class ReplayEpisode:
    """Executed actions and resulting states of a recorded episode of T frames with K control steps each."""

    number: int
    sentence: str
    scene: str
    task: str
    seed: int
    outcome: str
    control_hz: float
    actions: NDArray[np.float32]
    """(T, K, A) executed actions."""
    states: NDArray[np.float32]
    """(T, 8) states before the steps of each frame, see `recorded_columns.STATE_NAMES`."""


@dataclass(frozen=True)
class Deviation:
    """Deviation of the hand from the recording."""

    distance_m: NDArray[np.float64]
    """(T,) [m] at each frame."""
    turn_rad: NDArray[np.float64]
    """(T,) [rad] angle between the hand's orientations."""
    opening_m: NDArray[np.float64]
    """(T,) [m] absolute difference of the fingers' opening."""
    outcome: str
    """Outcome of the replay according to the simulator: success, failure or unknown."""

    def lines(self, episode: ReplayEpisode) -> list[str]:
        """Return the report."""
        worst = int(self.distance_m.argmax())
        seconds = len(self.distance_m) * episode.actions.shape[1] / episode.control_hz
        return [
            f'episode {episode.number}: "{episode.sentence}", {len(self.distance_m)} frames, {seconds:.1f} s, '
            f"{episode.scene}, {episode.task}, initial state {episode.seed}",
            f"hand at the beginning: {1e3 * self.distance_m[0]:.2f} mm from the recorded one",
            f"hand on the way: mean {1e3 * self.distance_m.mean():.2f} mm, most {1e3 * self.distance_m[worst]:.2f} mm "
            f"at frame {worst}, at the end {1e3 * self.distance_m[-1]:.2f} mm",
            f"orientation: most {np.degrees(self.turn_rad.max()):.2f} degrees; fingers: most "
            f"{1e3 * self.opening_m.max():.2f} mm",
            f"outcome: {episode.outcome} when it was recorded, {self.outcome} when it was replayed",
        ]


def load_episode(dataset: Path, number: int, scene: str = "") -> ReplayEpisode:
    """Read an episode that openral recorded.

    Args:
        dataset: folder of the LeRobot dataset.
        number: of the episode.
        scene: name or path of the scene; empty: the one that the recording names.

    Raises:
        NotFoundError: there is no such episode, or its scene is none that ships.
        DatasetError: the dataset does not hold every control step.
    """
    found = open_dataset(dataset)
    episodes, features = found.episodes, found.info["features"]
    if number not in episodes["episode_index"]:
        raise NotFoundError(
            f"{dataset}: no episode {number}; it has 0 to {len(episodes['episode_index']) - 1}"
        )
    if "action.executed" not in features or "control_hz" not in found.info:
        raise DatasetError(
            f"{dataset}: does not hold every control step (action.executed); only what openral's recorder wrote does"
        )
    place = episodes["episode_index"].index(number)
    rows = slice(episodes["dataset_from_index"][place], episodes["dataset_to_index"][place])
    columns = found.columns(["action", "action.executed", "observation.state"])
    dim = columns["action"].shape[1]
    executed = columns["action.executed"][rows].astype(np.float32)
    return ReplayEpisode(
        number=number,
        sentence=episodes["tasks"][place][0],
        scene=recorded_scene(scene, str(episodes["scene"][place])),
        task=str(episodes["sim_task"][place]),
        seed=int(episodes["seed"][place]),
        outcome=str(episodes["outcome"][place]),
        control_hz=float(found.info["control_hz"]),
        actions=executed.reshape(len(executed), -1, dim),
        states=columns["observation.state"][rows].astype(np.float32),
    )


def deviation(episode: ReplayEpisode, states: NDArray[np.float64], outcome: str) -> Deviation:
    """Return the deviation of the states (T, 8) of a replay from the recording."""
    recorded = episode.states.astype(np.float64)
    alike = np.abs(np.sum(recorded[:, 3:7] * states[:, 3:7], axis=1)).clip(0.0, 1.0)
    return Deviation(
        distance_m=np.linalg.norm(states[:, :3] - recorded[:, :3], axis=1),
        turn_rad=2.0 * np.arccos(alike),
        opening_m=np.abs(states[:, 7] - recorded[:, 7]),
        outcome=outcome,
    )
