"""A training step that is recorded once and replayed: the plain step's gradients, and what is done when it fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from openral_training.cuda_graph_step import CudaGraphStep, Replay, Step, cuda_graph


def _learner(device: str = "cpu") -> tuple[nn.Module, Step]:
    """A network and a step of it."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 1)).to(device)

    def step(inputs: Tensor, targets: Tensor) -> Tensor:
        network.zero_grad()
        loss = (network(inputs) - targets).abs().mean()
        loss.backward()
        return loss.detach()

    return network, step


def _calling(step: Step, inputs: tuple[Tensor, ...]) -> Replay:
    """Stand for a recording without a GPU: compute anew, from what is held, into the same gradients."""
    loss = step(*inputs)
    return lambda: loss.copy_(step(*inputs))


def _batch(rows: int, seed: int, device: str = "cpu") -> tuple[Tensor, Tensor]:
    torch.manual_seed(seed)
    return torch.randn(rows, 3).to(device), torch.randn(rows, 1).to(device)


def _trained(network: nn.Module, learn: Callable[..., Tensor], device: str = "cpu") -> Tensor:
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-2)
    for seed in range(20):
        learn(*_batch(16, seed, device))
        optimiser.step()
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_network_that_learns_by_replays_becomes_the_one_that_learns_plainly(device: str) -> None:
    network, step = _learner(device)
    recorded = CudaGraphStep(step, list(network.parameters()))
    recorded.record(_batch(16, 99, device), cuda_graph if device == "cuda" else _calling)
    assert recorded.recorded
    found = _trained(network, recorded, device)
    plain, step = _learner(device)
    torch.testing.assert_close(found, _trained(plain, step, device))


def test_a_batch_of_another_size_is_computed_as_it_is_and_the_next_one_replayed() -> None:
    network, step = _learner()
    recorded = CudaGraphStep(step, list(network.parameters()))
    replays = [0]

    def counting(step: Step, inputs: tuple[Tensor, ...]) -> Replay:
        replay = _calling(step, inputs)

        def counted() -> Tensor:
            replays[0] += 1
            return replay()

        return counted

    recorded.record(_batch(16, 0), counting)
    before = replays[0]
    recorded(*_batch(5, 1))
    assert replays[0] == before
    loss = recorded(*_batch(16, 2))
    assert replays[0] == before + 1
    plain, step = _learner()
    assert loss.item() == pytest.approx(step(*_batch(16, 2)).item())
    for mine, other in zip(network.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def _refusing(step: Step, inputs: tuple[Tensor, ...]) -> Replay:
    raise RuntimeError("operation not permitted when stream is capturing")


def _of_other_gradients(step: Step, inputs: tuple[Tensor, ...]) -> Replay:
    return lambda: step(inputs[0] + 1, inputs[1])


@pytest.mark.parametrize(
    ("recorder", "why"), [(_refusing, "not permitted"), (_of_other_gradients, "gradient of a replay differs")]
)
def test_where_a_recording_fails_or_gives_another_gradient_training_goes_on_plainly(
    recorder: Callable[..., Replay], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    network, step = _learner()
    recorded = CudaGraphStep(step, list(network.parameters()))
    recorded.record(_batch(16, 99), recorder)
    assert not recorded.recorded
    assert why in caplog.text
    found = _trained(network, recorded)
    plain, step = _learner()
    assert torch.equal(found, _trained(plain, step))
