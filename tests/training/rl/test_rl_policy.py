"""The state policy: what it samples is what it says it samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from openral_core.errors import PolicyError
from openral_training.rl.policies.noise import EpisodeNoise
from openral_training.rl.policies.state_mlp import MlpShape, StateMlp, load_state_mlp


def policy(head: str, temperature: float = 1.0) -> StateMlp:
    torch.manual_seed(0)
    words = {"head": head, "chunk": 2, "hidden": 16, "observation_dim": 3, "action_dim": 2, "value_width": 2}
    made = StateMlp(
        MlpShape.model_validate({**words, **({"bins": 5} if head == "bins" else {})}), temperature
    )
    with torch.no_grad():
        made.network.actor[-1].weight.mul_(300)
    return made


def observations(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)


@pytest.mark.parametrize("head", ["bins", "gaussian"])
@pytest.mark.parametrize("temperature", [1.0, 1.6])
def test_what_was_sampled_is_judged_as_it_was_sampled(head: str, temperature: float) -> None:
    made, seen = policy(head, temperature), observations(64)
    noise = np.random.default_rng(1).standard_normal((64, 2, 2)).astype(np.float32)
    decision = made.sample(seen, noise)
    judged = made.evaluate(torch.from_numpy(seen), torch.from_numpy(decision.tokens))
    np.testing.assert_allclose(judged.logprobs.detach().numpy(), decision.logprobs, atol=1e-5)
    np.testing.assert_allclose(judged.values.detach().numpy(), decision.values, atol=1e-6)
    assert np.abs(decision.actions).max() <= 1
    assert judged.logprobs.requires_grad


@pytest.mark.parametrize("head", ["bins", "gaussian"])
def test_entropy_is_the_mean_surprise(head: str) -> None:
    made = policy(head)
    seen = np.repeat(observations(1), 40_000, axis=0)
    noise = np.random.default_rng(2).standard_normal((40_000, 2, 2)).astype(np.float32)
    decision = made.sample(seen, noise)
    judged = made.evaluate(torch.from_numpy(seen[:1]), torch.from_numpy(decision.tokens[:1]))
    np.testing.assert_allclose(-decision.logprobs.mean(0), judged.entropy[0].detach().numpy(), atol=0.02)


def test_bins_are_drawn_as_often_as_they_are_likely_and_in_order() -> None:
    made = policy("bins")
    count = 40_000
    seen = np.repeat(observations(1), count, axis=0)
    noise = np.random.default_rng(3).standard_normal((count, 2, 2)).astype(np.float32)
    tokens = made.sample(seen, noise).tokens
    every = np.broadcast_to(np.arange(5, dtype=np.float32)[:, None, None], (5, 2, 2)).copy()
    likely = (
        made.evaluate(torch.from_numpy(seen[:5]), torch.from_numpy(every)).logprobs.exp().detach().numpy()
    )
    for token in range(5):
        np.testing.assert_allclose((tokens == token).mean(0), likely[token], atol=0.01)
    order = np.argsort(noise[:, 0, 0])
    assert (np.diff(tokens[order, 0, 0]) >= 0).all()  # near numbers give near actions


def test_greedy_takes_the_likeliest_bin_whatever_the_temperature() -> None:
    seen = observations(20)
    np.testing.assert_array_equal(policy("bins").greedy(seen), policy("bins", 1.6).greedy(seen))
    made = policy("bins")
    tokens = torch.from_numpy(made.head.tokens(made.greedy(seen)))
    best = made.evaluate(torch.from_numpy(seen), tokens).logprobs
    for token in range(5):
        other = made.evaluate(torch.from_numpy(seen), torch.full_like(tokens, token)).logprobs
        assert (best >= other).all()


def test_saved_and_loaded(tmp_path: Path) -> None:
    made = policy("bins")
    made.save(tmp_path / "policy.safetensors")
    loaded = load_state_mlp(tmp_path / "policy.safetensors")
    np.testing.assert_array_equal(loaded.greedy(observations(9)), made.greedy(observations(9)))
    (tmp_path / "other.safetensors").write_bytes(b"not weights")
    with pytest.raises(PolicyError, match="not a state policy"):
        load_state_mlp(tmp_path / "other.safetensors")


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_noise_is_normal_and_hangs_together(correlation: float) -> None:
    rows = np.concatenate([EpisodeNoise([0, episode], 3, correlation).next(200) for episode in range(200)])
    assert rows.mean() == pytest.approx(0, abs=0.05)
    assert rows.std() == pytest.approx(1, abs=0.03)
    steps = rows.reshape(200, 200, 3)
    found = np.corrcoef(steps[:, :-1].ravel(), steps[:, 1:].ravel())[0, 1]
    assert found == pytest.approx(correlation, abs=0.02)


def test_noise_depends_on_its_seed_alone() -> None:
    first, second = EpisodeNoise([1, 2], 4, 0.5), EpisodeNoise([1, 2], 4, 0.5)
    np.testing.assert_array_equal(
        np.concatenate([first.next(2), first.next(2)]), np.concatenate([second.next(2), second.next(2)])
    )
    assert not np.array_equal(EpisodeNoise([1, 3], 4, 0.5).next(2), EpisodeNoise([1, 2], 4, 0.5).next(2))
