"""A skill that sees, learning: it sees and does what the benchmark lets it, and what it learnt is a skill again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rl_settings import SEEING, small

from openral_benchmark.single_run import SimRun, simulate
from openral_core.errors import ContractError, PolicyError
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.suite import with_task
from openral_core.types import RobotState
from openral_policy_nodes.families.mini.policy import load_folder, load_mini
from openral_rskill.mini.checkpoint import save_network
from openral_rskill.registry import load_package
from openral_sim_bridge.backends.factory import make_backend
from openral_training.cloning.proposals import with_proposals
from openral_training.rl.initial_policy import InitialPolicy, initial_policy
from openral_training.rl.policies.mini_actor import MiniActor
from openral_training.rl.policies.mini_features import check_skill
from openral_training.rl.run import train
from openral_training.rl.settings.initial_model import MiniActorConfig


@pytest.fixture(scope="module")
def initial(tmp_path_factory: pytest.TempPathFactory) -> InitialPolicy:
    return initial_policy(small(tmp_path_factory.mktemp("seeing"), SEEING))


@pytest.fixture(scope="module")
def seen(initial: InitialPolicy) -> tuple[NDArray[np.float32], NDArray[np.uint8], RobotState]:
    """Return what the encoder makes of initial state 3, and the image and state that it saw."""
    [(task, scene)] = initial.scenes.items()
    backend = make_backend(scene, num_envs=2)
    [state] = backend.reset([task], [3], [1])
    backend.reset([task], [4], [0])
    found = initial.encoder_factory(initial.scenes).encode(backend, 1, task, state)
    [image] = backend.render([scene.cameras[0].name], [1]).values()
    backend.close()
    return found, image[0], state


def test_a_skill_sees_and_does_as_in_the_benchmark(
    initial: InitialPolicy, seen: tuple[NDArray[np.float32], NDArray[np.uint8], RobotState]
) -> None:
    from openral_core.adapters.observation_adapter import ObservationAdapter
    from openral_core.types import Observation
    from openral_rskill.registry import resolve

    features, image, state = seen
    [(_, scene)] = initial.scenes.items()
    assert scene.task.instruction == "open the drawer"
    package = resolve("mini-metaworld")
    adapter = ObservationAdapter(package.manifest, scene)
    observation = Observation(0.0, {scene.cameras[0].name: image}, state, scene.task.instruction)
    expected = load_folder(package.folder).predict(adapter.batch([observation]))
    np.testing.assert_allclose(initial.policy.greedy(features[None]), expected[:, :8], atol=1e-5)


def test_what_was_sampled_is_judged_as_it_was_sampled(initial: InitialPolicy) -> None:
    rng = np.random.default_rng(0)
    dim = initial.encoder_factory(initial.scenes).dim
    features = rng.normal(size=(5, dim)).astype(np.float32)
    decision = initial.policy.sample(features, rng.standard_normal((5, 8, 4)).astype(np.float32))
    evaluation = initial.policy.evaluate(torch.from_numpy(features), torch.from_numpy(decision.tokens))
    np.testing.assert_allclose(evaluation.logprobs.detach().numpy(), decision.logprobs, atol=1e-5)
    np.testing.assert_allclose(evaluation.values.detach().numpy(), decision.values, atol=1e-5)
    assert evaluation.values.shape == (5, 8)


def test_a_run_ends_in_a_skill_that_can_be_run(tmp_path: Path) -> None:
    config = small(tmp_path, SEEING, {"runner": {"max_epochs": 1}})
    result = train(config)
    assert [row["steps"] for row in result["episodes"]] == [16, 16]
    package = load_package(config.folder / "policy")
    manifest = package.manifest
    assert manifest.name == "openral/rskill-mini-metaworld-rl"
    assert manifest.replay_steps == 8
    assert list(manifest.evaluated_tasks) == ["metaworld/drawer-open-v3"]
    assert manifest.trained_init_ids["metaworld/drawer-open-v3"] == config.env.train.init_ids
    assert manifest.trained_init_ids["metaworld"].count == 100, "those of the skill that it began with"
    learnt, base = (
        load_mini(folder).state_dict() for folder in (package.folder, Path("rskills/mini-metaworld"))
    )
    assert {name.split(".")[0] for name in base if not torch.equal(base[name], learnt[name])} == {"head"}
    evaluation = json.loads((config.folder / "eval" / "policy.json").read_text())
    scene = with_task(
        load_scene("metaworld_mini", BenchmarkScene), "metaworld/drawer-open-v3", "open the drawer"
    )
    [row] = simulate(package, scene, SimRun("drawer-open-v3", "open the drawer", 1000, horizon=16))
    assert (row.success, row.steps) == (
        evaluation["episodes"][0]["success"],
        evaluation["episodes"][0]["steps"],
    )


def test_what_is_judged_is_what_was_written(initial: InitialPolicy, tmp_path: Path) -> None:
    policy = initial.policy
    assert isinstance(policy, MiniActor)
    with torch.no_grad():
        for parameter in policy.actor_parameters():
            parameter.add_(1e-4)
    policy.save(tmp_path / "skill")
    written = load_mini(tmp_path / "skill").head.state_dict()
    assert all(torch.equal(value, written[name]) for name, value in policy.network.head.state_dict().items())


def test_of_several_proposals_the_likeliest_is_explored_around(tmp_path: Path) -> None:
    torch.manual_seed(3)
    folder = shutil.copytree("rskills/mini-metaworld", tmp_path / "skill")
    network = with_proposals(load_mini(folder), 3)
    with torch.no_grad():
        network.head[-1].weight[-3:].normal_()
    save_network(network, network.config, folder, {})
    actor = MiniActor(
        load_package(folder),
        MiniActorConfig(model_path=str(folder)),
        tasks=["drawer-open-v3"],
        value_width=1,
        temperature=1.0,
    )
    features = torch.randn(9, network.width)
    chunks, logits = load_mini(folder).proposals(features)
    chosen = logits.argmax(1)
    assert len(chosen.unique()) > 1
    expected = torch.stack([chunk[one] for chunk, one in zip(chunks, chosen, strict=True)])[:, :8]
    np.testing.assert_allclose(actor.greedy(features.numpy()), expected.detach().numpy(), atol=1e-6)


def test_what_does_not_fit_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"actor\.model\.chunk: is 32, and .* predicts 16 actions at once"):
        initial_policy(small(tmp_path, SEEING, {"actor": {"model": {"chunk": 32}}}))
    package = load_package(Path("rskills/mini-metaworld"))
    scene = load_scene("metaworld_mini", BenchmarkScene)
    farther = scene.model_copy(update={"action": scene.action.model_copy(update={"step_m": 0.02})})
    with pytest.raises(ContractError, match="another distance"):
        check_skill(package, {"drawer-open-v3": farther}, [1000])


def test_a_skill_is_not_judged_on_states_that_it_was_trained_on(tmp_path: Path) -> None:
    ids = {"train": {"init_ids": {"first": 0, "count": 90}}, "eval": {"init_ids": {"first": 98, "count": 3}}}
    with pytest.raises(ContractError, match="drawer-open-v3: trained on 98, 99, needed none of 0 to 99"):
        initial_policy(small(tmp_path, SEEING, {"env": ids}))
