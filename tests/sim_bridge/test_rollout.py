"""Rollouts of a policy that looks back, in the fake world, where every picture is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_core.adapters.observation_adapter import ObservationAdapter
from openral_core.manifest import RSkillManifest
from openral_core.scene import load_scene
from openral_core.types import Observation, PolicyBatch, RobotState
from openral_sim_bridge.backend import Backend, StepResult
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.rollout import EpisodeJob, roll_out

OFFSETS = (-6, -4, -2, 0)
REPLAY = 8
KEY = "observation.images.camera1"
MANIFEST = {
    "name": "tests/rskill-looks-back",
    "version": "0.1.0",
    "license": "apache-2.0",
    "kind": "vla",
    "model_family": "fake",
    "description": "Goes right",
    "embodiment_tags": ["sawyer"],
    "sensors_required": [{"modality": "rgb", "vla_feature_key": KEY}],
    "actuators_required": [
        {"kind": "cartesian_delta", "control_mode_semantics": {"mode": "delta", "reference_frame": "world"}}
    ],
    "weights_uri": "local://model.safetensors",
    "latency_budget": {"per_chunk_ms": 50.0},
    "chunk_size": 16,
    "n_action_steps": REPLAY,
    "state_contract": {"layout": "ee_pos3_gripper1", "dim": 4},
    "actions": ["reach"],
    "action_contract": {"dim": 4, "representation": "delta_ee_3d_plus_gripper", "step_m": 0.01},
    "image_preprocessing": {"history": list(OFFSETS)},
}
ACTION = np.array([1.0, 0.5, 0.0, -1.0])


class Recorder:
    """Goes where it is told and remembers what it was shown."""

    def __init__(self) -> None:
        self.batches: list[PolicyBatch] = []
        self.resets: list[list[str]] = []

    def reset(self, episodes: Sequence[str]) -> None:
        self.resets.append(list(episodes))

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        self.batches.append(batch)
        return np.tile(ACTION.astype(np.float32), (len(batch), 16, 1))

    def close(self) -> None:
        pass


def pictures(fake_scene, job: EpisodeJob, steps: int) -> list[NDArray[np.uint8]]:
    """The picture after 0, 1, …, `steps` control steps."""
    backend = make_backend(load_scene(fake_scene))
    backend.reset([job.task_id], [job.init_id])
    seen = [backend.render(["corner2"])["corner2"][0]]
    for _ in range(steps):
        backend.step(ACTION[None])
        seen.append(backend.render(["corner2"])["corner2"][0])
    return seen


@pytest.mark.parametrize("worlds", [1, 2])
def test_a_policy_sees_the_control_steps_it_asks_for(fake_scene, worlds):
    scene, policy = load_scene(fake_scene), Recorder()
    jobs = [EpisodeJob("drawer-close-v3", init_id, "go") for init_id in (0, 20, 40)]
    observe = ObservationAdapter(RSkillManifest.model_validate(MANIFEST), scene)
    rows = roll_out(
        make_backend(scene, num_envs=worlds),
        policy,
        observe,
        lambda chunk: chunk,
        jobs,
        catch_up=CatchUp(scene.action),
        cameras=["corner2"],
        n_action_steps=REPLAY,
        horizon=24,
    )
    assert [row.steps for row in rows] == [24, 24, 24]
    names = [f"drawer-close-v3#{job.init_id}#{number}" for number, job in enumerate(jobs)]
    assert policy.resets == ([[name] for name in names] if worlds == 1 else [names[:2], names[2:]])
    seen: dict[str, list[NDArray[np.uint8]]] = {name: [] for name in names}
    for batch in policy.batches:
        for episode, images in zip(batch.episodes, batch.images[KEY], strict=True):
            seen[episode].append(images)
    for name, job in zip(names, jobs, strict=True):
        known = pictures(fake_scene, job, 24)
        expected = [[known[max(0, now + offset)] for offset in OFFSETS] for now in (0, 8, 16)]
        np.testing.assert_array_equal(seen[name], expected)


class Planner(Recorder):
    """Says with each action of a chunk for which control step it is, and notes what its batch showed."""

    def __init__(self, hz: float) -> None:
        super().__init__()
        self.hz = hz
        self.seen: list[tuple[int, NDArray[np.uint8]]] = []

    def __call__(self, number: int, observation: Observation) -> None:
        step = round(observation.stamp_s * self.hz)
        self.seen.append((step, observation.images["corner2"]))

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        steps = self.seen[-1][0] + np.arange(16)
        return np.repeat(steps[None, :, None], 4, axis=2).astype(np.float32)


class Counting:
    """A backend that notes for which control step each executed action was meant, and moves as ACTION says."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self.meant = backend, list[int]()

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def step(self, actions: NDArray[np.float64], envs: Sequence[int] | None = None) -> StepResult:
        self.meant.append(int(actions[0, 0]))
        return self._backend.step(np.tile(ACTION, (len(actions), 1)), envs)


@pytest.mark.parametrize(("answer", "picture"), [(0, 0), (1, 0), (3, 0), (0, 2), (1, 1)])
def test_late_answers_fit_their_steps_and_late_pictures_are_older_than_the_state(fake_scene, answer, picture):
    scene = load_scene(fake_scene)
    manifest = {**MANIFEST, "image_preprocessing": {}, "n_action_steps": 4}
    job = EpisodeJob("drawer-close-v3", 20, "go", answer_delay=answer, picture_delay=picture)
    policy = Planner(scene.control_hz)
    world = Counting(make_backend(scene))
    roll_out(
        world,
        policy,
        ObservationAdapter(RSkillManifest.model_validate(manifest), scene),
        lambda chunk: chunk,
        [job],
        catch_up=CatchUp(scene.action),
        cameras=["corner2"],
        n_action_steps=4,
        horizon=24,
        watch=policy,
    )
    first = policy.seen[0][0]
    assert np.diff(world.meant).tolist() == [1] * 23  # each action is executed at the step that it is for
    known = pictures(fake_scene, job, 24)
    for decision, (step, image) in enumerate(policy.seen):
        answered = max(0, decision - answer)
        assert step - first == 4 * answered
        np.testing.assert_array_equal(image, known[4 * max(0, answered - picture)])


class Swerving(Recorder):
    """Moves on in its first chunk, and rests in all others."""

    def predict(self, batch: PolicyBatch) -> NDArray[np.float32]:
        self.batches.append(batch)
        return np.full((len(batch), 16, 4), 0.4 if len(self.batches) == 1 else 0.0, np.float32)


class SetPoint:
    """A backend whose set point is known: it moves as commanded, up to the control step in which it is stopped."""

    def __init__(self, backend: Backend, stopped: int) -> None:
        self._backend, self._stopped, self.executed = backend, stopped, list[float]()

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def reset(self, *asked: Sequence[object]) -> list[RobotState]:
        [state] = self._backend.reset(*asked)
        self._target = state.ee_position
        return [replace(state, ee_target=self._target)]

    def step(self, actions: NDArray[np.float64], envs: Sequence[int] | None = None) -> StepResult:
        if len(self.executed) != self._stopped:
            self._target = self._target + 0.01 * actions[0, :3]
        self.executed.append(round(float(actions[0, 0]), 6))
        result = self._backend.step(actions, envs)
        return replace(result, states=[replace(result.states[0], ee_target=self._target)])


@pytest.mark.parametrize(
    ("stopped", "corrected"),
    [(8, [-0.4] * 4), (1, [-0.2] * 4), (3, [0.0] * 4)],
    ids=["it followed", "it was stopped at the second step", "it was stopped at last"],
)
def test_a_late_answer_makes_up_only_for_what_the_set_point_followed(fake_scene, stopped, corrected):
    scene = load_scene(fake_scene)
    manifest = RSkillManifest.model_validate({**MANIFEST, "image_preprocessing": {}, "n_action_steps": 4})
    world = SetPoint(make_backend(scene), stopped)
    roll_out(
        world,
        Swerving(),
        ObservationAdapter(manifest, scene),
        lambda chunk: chunk,
        [EpisodeJob("drawer-close-v3", 20, "go", answer_delay=1)],
        catch_up=CatchUp(scene.action),
        cameras=["corner2"],
        n_action_steps=4,
        horizon=8,
    )
    assert world.executed == [0.4] * 4 + corrected


class Unrewarded(Counting):
    """A world whose reward is no number, as after a division by zero."""

    def step(self, actions: NDArray[np.float64], envs: Sequence[int] | None = None) -> StepResult:
        result = self._backend.step(actions, envs)
        return replace(result, reward=np.full(result.success.shape, np.nan))


def test_a_return_that_is_no_number_is_left_out_of_the_row(fake_scene):
    scene = load_scene(fake_scene)
    manifest = RSkillManifest.model_validate({**MANIFEST, "image_preprocessing": {}})
    [row] = roll_out(
        Unrewarded(make_backend(scene)),
        Recorder(),
        ObservationAdapter(manifest, scene),
        lambda chunk: chunk,
        [EpisodeJob("drawer-close-v3", 20, "go")],
        catch_up=CatchUp(scene.action),
        cameras=["corner2"],
        n_action_steps=REPLAY,
        horizon=8,
    )
    assert row.record()["return"] is None
