"""A policy that writes its actions as words, on a tiny random model: the plumbing, not what it is good for."""

from __future__ import annotations

import copy
import csv
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file
from tiny_vlm import BINS, SIZE, as_the_command_writes, tiny

from openral_core.errors import PolicyError
from openral_core.files.share import share_directory
from openral_core.suite import suite_with_task
from openral_training.rl.algorithm.batch import grpo_batch
from openral_training.rl.algorithm.ppo import Learner
from openral_training.rl.config import load_config
from openral_training.rl.envs.episode_trajectory import EpisodeRequest, Trajectory
from openral_training.rl.policies.float32_products import Float32Product
from openral_training.rl.policies.token_actor import TokenActor
from openral_training.rl.run import train
from openral_training.rl.settings.actor import Optim
from openral_training.rl.settings.algorithm import Grpo
from openral_training.rl.settings.initial_model import TokenConfig

WORDS = {"push": "push the puck", "open": "open a drawer to pull a puck out"}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> TokenConfig:
    return tiny(tmp_path_factory.mktemp("vlm"))


@pytest.fixture(scope="module", params=[torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TokenConfig:
    """A checkpoint in each number format."""
    return tiny(tmp_path_factory.mktemp("vlm"), dtype=request.param)


def actor(config: TokenConfig, temperature: float = 1.0) -> TokenActor:
    """Return a policy whose LoRA is no longer the nothing that it begins with."""
    torch.manual_seed(0)
    made = TokenActor(config, WORDS, action_dim=3, value_width=2, temperature=temperature)
    with torch.no_grad():
        for parameter in made.actor_parameters():
            parameter.add_(torch.randn_like(parameter))
    return made


def images(tasks: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    seen = np.random.default_rng(1).integers(0, 256, (len(tasks), SIZE * SIZE * 3 + 1)).astype(np.uint8)
    seen[:, -1] = tasks
    return seen


def noise(count: int, seed: int = 2) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(seed).standard_normal((count, 2, 3)).astype(np.float32)


@pytest.mark.parametrize("temperature", [1.0, 1.6])
def test_read_at_once_as_it_was_written_token_by_token(either: TokenConfig, temperature: float) -> None:
    policy, seen = actor(either, temperature), images([0, 1, 0, 1, 1, 0])
    decision = policy.sample(seen, noise(6))
    evaluation = policy.evaluate(torch.from_numpy(seen), torch.from_numpy(decision.tokens))
    np.testing.assert_allclose(evaluation.logprobs.detach().numpy(), decision.logprobs, atol=1e-4)
    np.testing.assert_allclose(evaluation.values.detach().numpy(), decision.values, atol=1e-4)
    # An update reads minibatches of another size than the batch that was acted in.
    parts = torch.split(torch.arange(6), 4)
    with torch.no_grad():
        found = [
            policy.evaluate(torch.from_numpy(seen[rows]), torch.from_numpy(decision.tokens[rows])).logprobs
            for rows in parts
        ]
    np.testing.assert_allclose(torch.cat(found).numpy(), decision.logprobs, atol=1e-4)
    assert len(np.unique(decision.tokens)) > 4
    assert np.abs(decision.actions).max() <= 1
    # What was written first matters for what comes next, and so do picture and words.
    other = torch.from_numpy(decision.tokens)
    other[:, 0, 0] = (other[:, 0, 0] + 5) % BINS
    later = policy.evaluate(torch.from_numpy(seen), other).logprobs[:, 1, 2].detach().numpy()
    assert np.abs(later - decision.logprobs[:, 1, 2]).max() > 1e-2
    turned = seen.copy()
    turned[:, -1] = 1 - turned[:, -1]
    assert not np.allclose(
        policy.sample(turned, noise(6)).logprobs[:, 0, 0], decision.logprobs[:, 0, 0], atol=1e-3
    )


def test_an_episode_goes_the_same_way_in_whatever_batch(config: TokenConfig) -> None:
    policy, seen = actor(config), images([0, 1, 0])
    together = policy.sample(seen, noise(3))
    for row in range(3):
        alone = policy.sample(seen[row : row + 1], noise(3)[row : row + 1])
        np.testing.assert_array_equal(alone.tokens[0], together.tokens[row])
    np.testing.assert_allclose(policy.values(seen), together.values, atol=1e-5)


def test_words_of_the_vocabulary_are_openvlas(config: TokenConfig) -> None:
    """The last word is the lowest value, and the two highest words share a value: 15 middles of 16 edges."""
    policy = actor(config)
    every = torch.arange(BINS, dtype=torch.float32).view(1, 1, BINS)
    values = policy._actions(every)[0, 0]
    assert values[0] == pytest.approx(-1 + 1 / 15)
    assert values[-1] == values[-2] == pytest.approx(1 - 1 / 15)
    vocabulary = policy.model.tokenizer.vocab_size
    assert policy.model.tokenizer.decode([vocabulary - 1]) == f"<action{BINS - 1}>"
    head = policy.model._without_peft().get_output_embeddings()
    with torch.no_grad():
        head.weight[vocabulary - 1] += 9.0
    assert policy.model.logits(torch.ones(1, 32)).argmax().item() == 0


def test_an_update_makes_what_was_rewarded_likelier_and_moves_lora_alone(either: TokenConfig) -> None:
    policy, count = actor(either), 16
    frozen = {
        name: tensor.clone() for name, tensor in policy.model.named_parameters() if not tensor.requires_grad
    }
    seen = np.repeat(images([0]), count, axis=0)
    decision = policy.sample(seen, noise(count, 5))
    won = decision.actions[:, 0, 0] > np.median(decision.actions[:, 0, 0])
    assert 0 < won.sum() < count
    trajectories = [
        Trajectory(
            EpisodeRequest("push", 0, (row,)),
            "state",
            seen[row : row + 1],
            seen[row],
            decision.tokens[row : row + 1],
            decision.logprobs[row : row + 1],
            decision.values[row : row + 1],
            np.array([[0.0, float(won[row])]]),
            np.ones((1, 2), np.bool_),
        )
        for row in range(count)
    ]
    algorithm = Grpo(adv_type="grpo", group_size=count, update_epoch=2, target_kl=None)
    batch, _ = grpo_batch(trajectories, algorithm, horizon=2)
    assert batch is not None
    assert batch.observations.dtype == torch.uint8
    figures = Learner(policy, algorithm, Optim(lr=1e-3), count).update(batch, 0, 0)
    assert figures["train/actor/grad_norm"] > 0
    assert figures["train/actor/ratio_at_step_0"] == pytest.approx(1.0, abs=1e-4)
    assert figures["train/actor/kl_at_step_0"] == pytest.approx(0.0, abs=1e-6)
    after = (
        policy.evaluate(torch.from_numpy(seen), torch.from_numpy(decision.tokens)).logprobs.detach().numpy()
    )
    gain = (after - decision.logprobs).sum((1, 2))
    assert gain[won].mean() > 0 > gain[~won].mean()
    assert all(
        torch.equal(frozen[name], tensor)
        for name, tensor in policy.model.named_parameters()
        if name in frozen
    )


def test_a_16_bit_checkpoint_keeps_its_weights_and_flows_in_float32(tmp_path: Path) -> None:
    """Else log-probabilities as drawn and as judged differ: by 0.05 in bf16 at a width of 1024."""
    policy = actor(tiny(tmp_path, dtype=torch.bfloat16))
    products = [part for part in policy.model.modules() if isinstance(part, Float32Product)]
    assert len(products) > 20
    assert {part.weight.dtype for part in products} == {torch.bfloat16}
    assert {parameter.dtype for parameter in policy.actor_parameters()} == {torch.float32}
    plain = products[0]
    inputs = torch.randn(3, plain.in_features, requires_grad=True)
    made = plain(inputs)
    expected = torch.nn.functional.linear(inputs.detach(), plain.weight.float(), plain.bias)
    torch.testing.assert_close(made, expected)
    (gradient,) = torch.autograd.grad(made.sum(), inputs)
    torch.testing.assert_close(gradient, plain.weight.float().sum(0).expand(3, -1))


def test_pictures_are_prepared_on_the_models_device(config: TokenConfig) -> None:
    model = actor(config).model
    seen = torch.from_numpy(images([0, 1])[:, :-1]).view(-1, SIZE, SIZE, 3)
    expected = model.images(images=list(seen.numpy()), return_tensors="pt")["pixel_values"]
    torch.testing.assert_close(model.pixels(seen), expected, atol=1e-5, rtol=0)
    assert model.to("meta").pixels(seen.to("meta")).device.type == "meta"


def test_copies_have_learnt_the_same_and_carry_nothing_else(config: TokenConfig, tmp_path: Path) -> None:
    policy, seen = actor(config), images([0, 1])
    expected = policy.sample(seen, noise(2))
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):  # noqa: S301
        np.testing.assert_array_equal(other.sample(seen, noise(2)).tokens, expected.tokens)
    kinds = {"lora" if ".lora_" in name else name.split(".")[0] for name in policy.model.state_dict()}
    assert kinds == {"lora", "critic"}
    with pytest.raises(RuntimeError, match="are missing"):
        policy.model.load_state_dict({})
    policy.save(tmp_path)
    written = load_file(tmp_path / "adapter_model.safetensors")
    assert all(".lora_" in name for name in written)
    assert len(written) == len(list(policy.actor_parameters()))


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"holds no config\.json"):
        actor(TokenConfig(model_path=str(tmp_path)))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(PolicyError, match="not an image-text-to-text checkpoint"):
        actor(TokenConfig(model_path=str(tmp_path)))


@pytest.mark.parametrize("recipe", ["drawer_tokens_ppo", "libero_tokens_ppo"])
def test_a_recipe_fits_the_small_model_that_stands_in_for_weights(recipe: str, tmp_path: Path) -> None:
    model = load_config(recipe).actor.model
    assert isinstance(model, TokenConfig)
    written = as_the_command_writes(tmp_path)
    assert model == written.model_copy(update={"model_path": "runs/rl/tiny-vla"})
    actor(written)


def test_the_recipe_for_libero_names_its_task_as_libero_s_suite_does() -> None:
    env = load_config("libero_tokens_ppo").env
    (task,) = env.tasks
    suite_with_task(task)  # raises where no suite has it
    assert list(env.instructions) == [task]


@pytest.mark.slow
def test_the_recipe_in_the_simulator_with_another_path(tmp_path: Path) -> None:
    """The shipped recipe, with a path of one's own, and fewer and shorter episodes."""
    content = yaml.safe_load((share_directory() / "config/rl/drawer_tokens_ppo.yaml").read_text())
    content["actor"]["model"]["model_path"] = as_the_command_writes(tmp_path / "vla").model_path
    content["runner"] |= {"max_epochs": 1}
    content["runner"]["logger"]["log_path"] = str(tmp_path)
    content["env"] |= {"max_episode_steps": 10}
    content["env"]["train"]["total_num_envs"] = 2
    content["env"]["eval"]["init_ids"]["count"] = 2
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    run = load_config(tmp_path / "mine.yaml")
    result = train(run, device="cpu")
    assert [row["steps"] for row in result["episodes"]] == [10, 10]
    with open(run.folder / "metrics.csv", encoding="utf-8") as file:
        row = list(csv.DictReader(file))[-1]
    assert float(row["train/actor/ratio_at_step_0"]) == pytest.approx(1.0, abs=1e-4)
    assert float(row["train/actor/kl_at_step_0"]) == pytest.approx(0.0, abs=1e-6)
    assert float(row["train/actor/grad_norm"]) > 0
    assert load_file(run.folder / "policy" / "adapter_model.safetensors")
