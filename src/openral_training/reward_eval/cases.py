"""The cases of an evaluation: each rollout with its instruction; experts' also with wrong ones, and reversed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError
from openral_data.episode import Episode, decode_png
from openral_reward_monitor.camera_views import cameras_of, side_by_side
from openral_reward_monitor.models.calibration import joint_score
from openral_reward_monitor.models.reward_model import RewardModel, RewardScores, checked
from openral_training.acting_skill import POLICY
from openral_training.training_recipe import Recipe

NAMES = {"noisy_expert": "noisy", "wander": "random"}
"""Names of scripted behaviours in results, where they differ from the behaviours' own names."""
KINDS = {
    "gesture at another state": ("replayed",),
    "constant or random motion": ("constant", "random", "long_wander"),
    "a skill's own failures": (POLICY,),
    "near miss, or undone again": ("half_done", "undone"),
    "arm parked anywhere": ("parked",),
    "stopped on its way": ("stuck",),
    "wrong words": ("wrong_task",),
    "backwards": ("reversed",),
}
"""Kind of failure -> its behaviours."""
RANKED = ("expert", "noisy", "stuck", "random", "reversed", "wrong_task")
"""Behaviours that are compared in the ranking; the true progress of the others is unknown."""
WRONG_WORDS = 3
"""Number of tasks of other worlds with whose sentences experts' rollouts are scored, beside those of their world."""
FAILURE, PARTIAL, SUCCESS = 0, 1, 2


@dataclass(frozen=True)
class Case:
    """A rollout of T frames with one sentence as the instruction."""

    task: str
    """The task of the sentence."""
    acted: str
    """The task that the rollout attempts."""
    behaviour: str
    """expert, noisy, or one of those in KINDS."""
    init_id: int
    instruction: str
    images: list[tuple[bytes, ...]]
    """T times a PNG file of each camera of the view."""
    stamps_s: NDArray[np.float64]
    """(T,) [s] from the first frame."""
    truth: NDArray[np.bool_]
    """(T,) whether the task of the sentence is done in each frame, as judged by the simulator."""

    def frames(self, rows: Sequence[int] | None = None) -> NDArray[np.uint8]:
        """Return the frames (T, H, W, 3) of the view, or some of them, as `RewardModel.score` takes them."""
        shown = self.images if rows is None else [self.images[row] for row in rows]
        return np.stack([side_by_side([decode_png(picture) for picture in pictures]) for pictures in shown])


@dataclass(frozen=True)
class Scored:
    """A case with the model's scores."""

    case: Case
    scores: RewardScores

    @property
    def joint(self) -> NDArray[np.float32]:
        """(T,) 0..1, the minimum of the two heads' scores."""
        return joint_score(self.scores)

    @property
    def done(self) -> bool:
        """Whether the task of the sentence is done in the last frame."""
        return bool(self.case.truth[-1])

    @property
    def level(self) -> int:
        """FAILURE, PARTIAL (a stopped expert) or SUCCESS, in the last frame."""
        if self.done:
            return SUCCESS
        return PARTIAL if self.case.behaviour == "stuck" else FAILURE


def cases(episode: Episode, recipe: Recipe, view: str, words: Mapping[str, list[str]]) -> Iterator[Case]:
    """Yield the cases of one rollout.

    Args:
        episode: as `openral_training.reward_eval.rollouts` makes them.
        recipe: has the tasks of each world and the rate of the frames.
        view: one camera, or several whose images are scored together (`openral_reward_monitor.camera_views`).
        words: sentences of each task, from which one is chosen by the initial state.

    Raises:
        NotFoundError: the rollout has no images of one of its cameras.
    """
    acted = episode.task_id
    images = _images(episode, recipe, view)
    stamps_s = np.arange(len(episode)) * recipe.record_every / recipe.scene_for(acted).control_hz

    def case(behaviour: str, task: str, order: NDArray[np.int64]) -> Case:
        truth = episode.success[order, recipe.task_ids.index(task)]
        shown = [images[index] for index in order]
        said = words[task][episode.init_id % len(words[task])]
        return Case(task, acted, behaviour, episode.init_id, said, shown, stamps_s, truth)

    forward = np.arange(len(episode))
    yield case(NAMES.get(episode.behaviour, episode.behaviour), acted, forward)
    if episode.behaviour != "expert":
        return
    for other in _others(acted, episode.init_id, recipe):
        yield case("wrong_task", other, forward)
    yield case("reversed", acted, forward[::-1])


def _images(episode: Episode, recipe: Recipe, view: str) -> list[tuple[bytes, ...]]:
    known = {found.name: found.feature_key for found in recipe.scene_for(episode.task_id).cameras}
    for camera in cameras_of(view):
        if known.get(camera) not in episode.images:
            raise NotFoundError(
                f"no pictures of camera '{camera}'; the recipe's scene has {', '.join(known)}"
            )
    return list(zip(*(episode.images[known[camera]] for camera in cameras_of(view)), strict=True))


def _others(acted: str, init_id: int, recipe: Recipe) -> list[str]:
    """Return tasks whose sentences are wrong for a rollout: all of its world, and some of others by initial state."""
    near = [task for task in recipe.world_of(acted) if task != acted]
    far = [task for task in recipe.task_ids if task not in (*near, acted)]
    turned = [far[(init_id + index) % len(far)] for index in range(min(WRONG_WORDS, len(far)))]
    return near + turned


def score(model: RewardModel, case: Case) -> Scored:
    """Score a case. Raises PolicyError as `RewardModel.score` and `checked`."""
    frames = case.frames()
    return Scored(case, checked(model.score(frames, case.instruction), len(frames)))
