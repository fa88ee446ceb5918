"""Records the training data of world models: episodes of a policy with every frame, state and action.

A frame is recorded before each control step and after the last one, where the action is the backend's hold action.
Episodes go on for a while after success, so that the data include states in which the task is solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OutputError, SimulationError
from openral_data.dataset_schema import DatasetMetadata
from openral_data.episode import Episode, encode_png, load_shard, save_shard
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.backends.metaworld.backend import MetaWorldBackend
from openral_sim_bridge.trace import enlarged
from openral_training.rl.config import RlConfig
from openral_training.rl.envs.observation_encoder import StateEncoder
from openral_training.rl.policies.noise import EpisodeNoise
from openral_training.rl.policies.policy import StochasticPolicy
from openral_training.training_recipe import Recipe

NOISE_SCALES = (0.0, 0.5, 1.0, 1.5, 2.5)
"""Factors of the policy's noise, taken in turn: 0 is greedy, 1 is the exploration of training."""
STEPS_AFTER_SUCCESS = 16
"""Control steps that an episode goes on after success."""
BEHAVIOUR = "policy"
STATE_LAYOUT = "metaworld_world"


@dataclass(frozen=True)
class RecordingRequest:
    """An episode to be recorded."""

    task: str
    init_id: int
    number: int
    """Index among the episodes from this initial state, from 0."""

    @property
    def name(self) -> str:
        """The stem of its shard."""
        return f"{self.task}.{self.init_id:04d}.{self.number:03d}"


def plan(tasks: Sequence[str], init_ids: Sequence[int], episodes: int) -> list[RecordingRequest]:
    """Return `episodes` requests for each task, with the initial states taken in turn."""
    return [
        RecordingRequest(task, init_ids[number % len(init_ids)], number // len(init_ids))
        for task in tasks
        for number in range(episodes)
    ]


def metadata_of(recipe: Recipe, tasks: Sequence[str], size: int) -> DatasetMetadata:
    """Return the metadata of the dataset.

    Episodes have success labels of every task that shares a world with one of `tasks`.

    Args:
        recipe: scenes, and the instructions of their tasks.
        tasks: of the episodes.
        size: [px] edge of the square frames.

    Raises:
        NotFoundError: the recipe has no such task.
    """
    recipe.require_tasks(tasks)
    scene = enlarged(recipe.scene_for(tasks[0]), size)
    labelled = dict.fromkeys(name for task in tasks for name in recipe.world_of(task))
    instructions = {name: recipe.tasks[name].train[0] for name in labelled}
    cameras = {camera.feature_key or camera.name: (size, size) for camera in scene.cameras[:1]}
    return DatasetMetadata(
        scene.control_hz, cameras, STATE_LAYOUT, scene.action.dim, 1, instructions, scene.robot_id
    )


def settings_of(config: RlConfig, metadata: DatasetMetadata) -> dict[str, Any]:
    """Return the settings that all episodes of a collection share: policy, initial states, and recorded features."""
    env = config.model_dump(mode="json", include={"env": {"scene", "max_episode_steps"}})["env"]
    policy = config.model_dump(mode="json", include={"base": True, "actor": {"seed", "model"}})
    noise = config.rollout.sampling_params.correlation
    first = config.env.train.init_ids.first
    return {**asdict(metadata), **env, **policy, "first_init_id": first, "noise_correlation": noise}


def require_all(shards: Path, requests: Sequence[RecordingRequest]) -> None:
    """Check that all episodes that are recorded already are among the requests.

    Raises:
        OutputError: there are others, which would be missing in the dataset.
    """
    recorded = {path.stem for path in shards.glob("*.npz")}
    if recorded - {request.name for request in requests}:
        each = Counter(name.rsplit(".", 2)[0] for name in recorded)
        raise OutputError(
            f"{shards.parent} holds {max(each.values())} episodes a task already; give at least as many --episodes, or "
            "name another --out"
        )


class Recording:
    """Records episodes of a policy in the scene of one task."""

    def __init__(
        self,
        policy: StochasticPolicy,
        recipe: Recipe,
        task: str,
        tasks: Sequence[str],
        metadata: DatasetMetadata,
        horizon: int,
        correlation: float,
    ) -> None:
        """Build the simulator.

        Args:
            policy: that acts.
            recipe: has the scene.
            task: of the episodes.
            tasks: of the policy, whose observation says which of several it is; the recorded state does not.
            metadata: of the dataset.
            horizon: control steps after which an episode is truncated.
            correlation: of the policy's noise in time, see `EpisodeNoise`.

        Raises:
            OpenralError: the simulator could not be built.
        """
        ((self._key, (size, _)),) = metadata.cameras.items()
        scene = enlarged(recipe.scene_for(task), size)
        self._camera = scene.cameras[0].name
        self._policy, self._metadata = policy, metadata
        self._horizon, self._correlation = horizon, correlation
        self._encoder, self._told = StateEncoder([task]), StateEncoder(tasks)
        backend = make_backend(scene)
        if not isinstance(backend, MetaWorldBackend):
            backend.close()
            raise SimulationError(f"{scene.scene.id}: has no state observation; use a scene of MetaWorld")
        self._backend = backend

    def record(self, request: RecordingRequest, seed: int) -> Episode:
        """Run one episode to its end."""
        backend, policy = self._backend, self._policy
        scale = NOISE_SCALES[(request.init_id + request.number) % len(NOISE_SCALES)]
        noise = EpisodeNoise((seed, request.init_id, request.number), policy.action_dim, self._correlation)
        backend.reset([request.task], [request.init_id])
        column = backend.task_ids.index(request.task)
        judge = backend.world(0).judge
        solved = np.array([judge(task)["success"] > 0 for task in backend.task_ids])
        rows: list[tuple[bytes, NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_]]] = []
        steps_left, step = self._horizon, 0
        while steps_left > 0:
            state = self._encoder.encode(backend, 0, request.task)
            if step % policy.chunk == 0:
                observation = self._told.observation(state, request.task)
                chunk = policy.sample(observation[None], scale * noise.next(policy.chunk)[None]).actions[0]
            action = chunk[step % policy.chunk].astype(np.float64)
            rows.append((self._image(), state, action, solved))
            solved_before, solved = solved[column], backend.step(action[None]).success[0].copy()
            steps_left -= 1
            if solved[column] and not solved_before:
                steps_left = min(steps_left, STEPS_AFTER_SUCCESS)
            step += 1
        state = self._encoder.encode(backend, 0, request.task)
        rows.append((self._image(), state, backend.hold_action(action), solved))
        return self._episode(request, rows)

    def close(self) -> None:
        """Close the simulator; to be called once."""
        self._backend.close()

    def _image(self) -> bytes:
        return encode_png(self._backend.render([self._camera])[self._camera][0])

    def _episode(
        self,
        request: RecordingRequest,
        rows: list[tuple[bytes, NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_]]],
    ) -> Episode:
        images, states, actions, solved = zip(*rows, strict=True)
        count, tasks, judged = len(rows), self._metadata.tasks, np.stack(solved)
        success = np.zeros((count, len(tasks)), np.bool_)
        for column, name in enumerate(self._backend.task_ids):
            if name in tasks:  # the scene may have tasks that the recipe has not
                success[:, tasks.index(name)] = judged[:, column]
        ahead = np.ones(count, np.int64)
        ahead[-1] = 0
        unknown = np.full((count, len(tasks)), np.nan, np.float32)
        return Episode(
            request.task,
            BEHAVIOUR,
            request.init_id,
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
    requests: Sequence[RecordingRequest],
    metadata: DatasetMetadata,
    shards: Path,
    *,
    horizon: int,
    correlation: float,
    seed: int,
) -> Iterator[Episode]:
    """Record every episode that has no shard yet; yield all of them in order.

    Args:
        policy: that acts.
        recipe: has the scenes.
        requests: as `plan` returns them for all tasks of the policy.
        metadata: of the dataset.
        shards: folder of the recorded episodes, from which a killed run is resumed.
        horizon: control steps after which an episode is truncated.
        correlation: see `EpisodeNoise`.
        seed: of the noise.

    Raises:
        SimulationError: a simulator failed, or a shard belongs to another recording.
    """
    shards.mkdir(parents=True, exist_ok=True)
    recording: Recording | None = None
    task, tasks = "", list(dict.fromkeys(request.task for request in requests))
    try:
        for request in requests:
            path = shards / f"{request.name}.npz"
            if not path.is_file():
                if recording is None or request.task != task:
                    if recording is not None:
                        recording.close()
                        recording = None
                    task = request.task
                    recording = Recording(policy, recipe, task, tasks, metadata, horizon, correlation)
                save_shard(path, [recording.record(request, seed)])
            (episode,) = load_shard(path)
            if episode.success.shape[1] != len(metadata.tasks):
                raise SimulationError(f"{path}: is of another recording; choose another --out")
            yield episode
    finally:
        if recording is not None:
            recording.close()
