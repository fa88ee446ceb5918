"""What a world model learns from: a policy's own attempts, with every frame, state and action.

A frame is recorded before each control step and one after the last, whose action is the one that holds still. Attempts
go on for a while after success, so that a model learns what success looks like and not only where it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import SimulationError
from openral_data.episode import Episode, encode_png, load_shard, save_shard
from openral_data.metadata import DatasetMetadata
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.trace import enlarged
from openral_training.recipe import Recipe
from openral_training.rl.envs.observation_encoder import StateEncoder
from openral_training.rl.policies.noise import EpisodeNoise
from openral_training.rl.policies.policy import StochasticPolicy

SPREADS = (0.0, 0.5, 1.0, 1.5, 2.5)
"""Of the policy's own chance, taken in turn: what it does at its best, what exploring does, and more than that."""
AFTER = 16
"""Control steps that an attempt goes on after success."""
BEHAVIOUR = "policy"
STATE_LAYOUT = "metaworld_world"


@dataclass(frozen=True)
class RecordedAttempt:
    """One attempt to be recorded."""

    task: str
    init_id: int
    number: int
    """Of the attempts at this state."""

    @property
    def name(self) -> str:
        """The stem of its shard."""
        return f"{self.task}.{self.init_id:04d}.{self.number:03d}"


def plan(tasks: Sequence[str], init_ids: Sequence[int], episodes: int) -> list[RecordedAttempt]:
    """Return as many attempts a task, the initial states taken in turn."""
    return [
        RecordedAttempt(task, init_ids[number % len(init_ids)], number // len(init_ids))
        for task in tasks
        for number in range(episodes)
    ]


def metadata_of(recipe: Recipe, tasks: Sequence[str], size: int) -> DatasetMetadata:
    """Return the form of the dataset: every task that shares a world with one of `tasks` is judged.

    Args:
        recipe: scenes, and the words for their tasks.
        tasks: that are attempted.
        size: [px] of the square frames.
    """
    scene = enlarged(recipe.scene_for(tasks[0]), size)
    judged = dict.fromkeys(name for task in tasks for name in recipe.world_of(task))
    words = {name: recipe.tasks[name].train[0] for name in judged}
    cameras = {camera.feature_key or camera.name: (size, size) for camera in scene.cameras[:1]}
    return DatasetMetadata(
        scene.control_hz, cameras, STATE_LAYOUT, scene.action.dim, 1, words, scene.robot_id
    )


class Recording:
    """Records attempts of a policy in the world of one task."""

    def __init__(
        self,
        policy: StochasticPolicy,
        recipe: Recipe,
        task: str,
        form: DatasetMetadata,
        horizon: int,
        correlation: float,
    ) -> None:
        """Build the world.

        Args:
            policy: acts.
            recipe: has the scene.
            task: that is attempted.
            form: of the dataset.
            horizon: control steps until an attempt is given up.
            correlation: of the policy's chance in time, see `EpisodeNoise`.

        Raises:
            OpenralError: the simulator could not be built.
        """
        ((self._key, (size, _)),) = form.cameras.items()
        scene = enlarged(recipe.scene_for(task), size)
        self._camera = scene.cameras[0].name
        self._policy, self._task, self._form = policy, task, form
        self._horizon, self._correlation = horizon, correlation
        self._encoder = StateEncoder([task])
        backend = make_backend(scene)
        if not isinstance(backend, MetaWorldBackend):
            backend.close()
            raise SimulationError(f"{scene.scene.id}: tells no state to learn from; use a scene of MetaWorld")
        self._backend = backend

    def perform(self, unit: RecordedAttempt, seed: int) -> Episode:
        """Run one attempt to its end."""
        backend, policy = self._backend, self._policy
        spread = SPREADS[(unit.init_id + unit.number) % len(SPREADS)]
        noise = EpisodeNoise((seed, unit.init_id, unit.number), policy.action_dim, self._correlation)
        backend.reset([unit.task], [unit.init_id])
        column = backend.task_ids.index(unit.task)
        judge = backend.world(0).judge
        judged = np.array([judge(task)["success"] > 0 for task in backend.task_ids])
        rows: list[tuple[bytes, NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_]]] = []
        left, step = self._horizon, 0
        while left > 0:
            state = self._encoder.encode(backend, 0, unit.task)
            if step % policy.chunk == 0:
                chunk = policy.sample(state[None], spread * noise.next(policy.chunk)[None]).actions[0]
            action = chunk[step % policy.chunk].astype(np.float64)
            rows.append((self._image(), state, action, judged))
            before, judged = judged[column], backend.step(action[None]).success[0].copy()
            left = min(left - 1, AFTER) if judged[column] and not before else left - 1
            step += 1
        state = self._encoder.encode(backend, 0, unit.task)
        rows.append((self._image(), state, backend.hold_action(action), judged))
        return self._episode(unit, rows)

    def close(self) -> None:
        """Free the world; called once."""
        self._backend.close()

    def _image(self) -> bytes:
        return encode_png(self._backend.render([self._camera])[self._camera][0])

    def _episode(
        self,
        unit: RecordedAttempt,
        rows: list[tuple[bytes, NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_]]],
    ) -> Episode:
        images, states, actions, verdicts = zip(*rows, strict=True)
        count, tasks = len(rows), self._form.tasks
        success = np.zeros((count, len(tasks)), np.bool_)
        success[:, [tasks.index(name) for name in self._backend.task_ids]] = np.stack(verdicts)
        ahead = np.ones(count, np.int64)
        ahead[-1] = 0
        unknown = np.full((count, len(tasks)), np.nan, np.float32)
        return Episode(
            unit.task,
            BEHAVIOUR,
            unit.init_id,
            0,
            {self._key: list(images)},
            np.stack(states),
            np.stack(actions).astype(np.float32)[:, None],
            ahead,
            success,
            unknown,
            unknown,
            np.full((count, 6), np.nan, np.float32),
        )


def record(
    policy: StochasticPolicy,
    recipe: Recipe,
    units: Sequence[RecordedAttempt],
    form: DatasetMetadata,
    shards: Path,
    *,
    horizon: int,
    correlation: float,
    seed: int,
    progress: Callable[[RecordedAttempt, Episode], None] = lambda unit, episode: None,
) -> Iterator[Episode]:
    """Record every attempt that has no shard yet; yield all of them in order.

    Args:
        policy: acts.
        recipe: scenes and words.
        units: what `plan` listed.
        form: of the dataset.
        shards: folder of what is done; a killed run goes on from it.
        horizon: control steps until an attempt is given up.
        correlation: see `EpisodeNoise`.
        seed: of all chance.
        progress: called after each attempt.

    Raises:
        SimulationError: a world failed.
    """
    shards.mkdir(parents=True, exist_ok=True)
    recording: Recording | None = None
    task = ""
    try:
        for unit in units:
            path = shards / f"{unit.name}.npz"
            if not path.is_file():
                if recording is None or unit.task != task:
                    if recording is not None:
                        recording.close()
                    recording, task = (
                        Recording(policy, recipe, unit.task, form, horizon, correlation),
                        unit.task,
                    )
                save_shard(path, [recording.perform(unit, seed)])
            (episode,) = load_shard(path)
            if episode.success.shape[1] != len(form.tasks):
                raise SimulationError(f"{path}: is of another collection; choose another --out")
            progress(unit, episode)
            yield episode
    finally:
        if recording is not None:
            recording.close()
