"""A skill that acts in the world of a scripted expert, so that its attempts can be recorded, judged, and corrected."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.action_adapter import ActionAdapter
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.errors import ContractError
from openral_core.manifest import RSkillManifest
from openral_core.types import Image, Observation, RobotState
from openral_data.episode import Episode
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.compatibility import require_policy
from openral_rskill.registry import load_package
from openral_training.experts.world import ExpertWorld
from openral_training.hard_negatives import LONG, record
from openral_training.training_recipe import Recipe

POLICY = "policy"
"""Behaviour of a skill that attempts a task under its first sentence of training."""


def with_all_cameras(recipe: Recipe) -> Recipe:
    """Return the recipe with all cameras of its scenes: a skill may use others than the reward model that judges it."""
    return recipe.model_copy(update={"cameras": None})


def require_fit(folder: Path, recipe: Recipe) -> None:
    """Check that a skill can act in the scene of at least one task of a recipe.

    Raises:
        ContractError: it has no policy, needs observations of earlier instants, or fits no scene; the text refers to
            the first task.
    """
    manifest = load_package(folder).manifest
    require_policy(manifest)
    if not tasks_of(folder, recipe):
        _adapters(manifest, recipe, recipe.task_ids[0])


def tasks_of(folder: Path, recipe: Recipe) -> list[str]:
    """Return the tasks of the recipe whose scenes a skill can act in."""
    manifest, found = load_package(folder).manifest, []
    for task_id in recipe.task_ids:
        try:
            _adapters(manifest, recipe, task_id)
        except ContractError:
            continue
        found.append(task_id)
    return found


def _adapters(
    manifest: RSkillManifest, recipe: Recipe, task_id: str
) -> tuple[ObservationAdapter, ActionAdapter]:
    """Return the adapters between a skill and the scene of a task. Raises ContractError: they do not fit."""
    scene = recipe.scene_for(task_id)
    observe, act = ObservationAdapter(manifest, scene), ActionAdapter(manifest, scene)
    if observe.history:
        raise ContractError(
            f"{manifest.name}: it needs observations of earlier instants; take a skill that sees one instant"
        )
    return observe, act


@dataclass(frozen=True)
class Delays:
    """By how many control steps, at most, a skill's attempt lags behind its world; in whole decisions."""

    pictures: int = 0
    """Age of the images beside the newest proprioception, as with a slow camera."""
    answers: int = 0
    """Age of the observation whose chunk is executed, as with a slow policy. Its steps that are past are skipped."""


class _Lagging:
    """What a skill sees of a world under delays."""

    def __init__(self, delays: Delays) -> None:
        self._delays = delays
        self._images: deque[tuple[int, Mapping[str, Image]]] = deque()
        self._seen: deque[tuple[int, Mapping[str, Image], RobotState]] = deque()

    def look(
        self, step: int, images: Mapping[str, Image], state: RobotState
    ) -> tuple[int, Mapping[str, Image], RobotState]:
        """Take what is there at a control step; return the step, images and state that are answered now."""
        self._images.append((step, images))
        while step - self._images[0][0] > self._delays.pictures:
            self._images.popleft()
        self._seen.append((step, self._images[0][1], state))
        while step - self._seen[0][0] > self._delays.answers:
            self._seen.popleft()
        return self._seen[0]


class ActingSkill:
    """A skill and its policy, loaded once for any number of attempts."""

    def __init__(self, folder: Path) -> None:
        """Load the skill in `folder`. Raises as `openral_policy_nodes.families.factory.load_policy`."""
        self._package = load_package(folder)
        self._policy = load_policy(self._package, "cpu")

    def attempt(
        self,
        world: ExpertWorld,
        recipe: Recipe,
        task_id: str,
        instruction: str,
        steps: int = LONG,
        delays: Delays = Delays(),
    ) -> Iterator[NDArray[np.float64]]:
        """Yield `steps` actions (A,). The next one is requested after the last one was executed.

        Args:
            world: in the initial state.
            recipe: has the scene of the task.
            task_id: the task.
            instruction: of the skill.
            steps: control steps.
            delays: of images and answers; that of answers is shortened where a chunk would have too few steps left.

        Raises:
            ContractError: see `require_fit`.
            PolicyError: the policy of the skill failed.
        """
        scene = recipe.scene_for(task_id)
        observe, act = _adapters(self._package.manifest, recipe, task_id)
        names = {camera.feature_key or camera.name: camera.name for camera in scene.cameras}
        replayed = self._package.manifest.replay_steps
        self._policy.reset([task_id])
        spare = (self._package.manifest.chunk_size or replayed) - replayed
        lagging = _Lagging(replace(delays, answers=min(delays.answers, spare)))
        for step in range(0, steps, replayed):
            shown = {names[key]: image for key, image in world.images().items()}
            at, images, state = lagging.look(step, shown, world.robot_state())
            seen = Observation(state.stamp_s, images, state, instruction, episode=task_id)
            chunk = act(self._policy.predict(observe.batch([seen]))[0])[step - at :]
            for action in chunk[: min(replayed, steps - step)]:
                yield action.astype(np.float64)

    def recorded_attempt(self, world: ExpertWorld, recipe: Recipe, task_id: str, init_id: int) -> Episode:
        """Attempt a task from an initial state for LONG steps, and return the record.

        Args:
            world: is reset.
            recipe: the tasks that are judged, how often a frame is recorded, and the instruction.
            task_id: the task.
            init_id: initial state.

        Raises:
            ContractError, PolicyError: see `attempt`.
        """
        world.reset(task_id, init_id)
        world.begin(task_id)
        script = self.attempt(world, recipe, task_id, recipe.tasks[task_id].train[0])
        return record(world, recipe, task_id, init_id, POLICY, script)

    def close(self) -> None:
        """Free the policy."""
        self._policy.close()
