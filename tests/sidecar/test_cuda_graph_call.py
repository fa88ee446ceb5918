"""Recordings of tensor functions: on a CPU a trace of the operations stands in for a CUDA graph."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from openral_sidecar import cuda_graph_call
from openral_sidecar.cuda_graph_call import (
    CudaGraphCall,
    CudaGraphs,
    Function,
    KeptConstants,
    Replay,
)


def traced(function: Function, inputs: tuple[Tensor, ...]) -> Replay:
    graph = make_fx(lambda *given: function(*given))(*inputs)
    return lambda: graph(*inputs)


class Denoiser:
    """Three steps from noise to actions, and how often they were computed in Python."""

    def __init__(self) -> None:
        self.calls = 0
        torch.manual_seed(0)
        self.weight = torch.randn(4, 4) / 2

    def __call__(self, seen: Tensor, noise: Tensor) -> Tensor:
        self.calls += 1
        for step in range(3):
            noise = noise + torch.tensor([0.1 * step]) * torch.tanh((noise + seen) @ self.weight)
        return noise


def inputs(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(seed)
    return torch.randn(rows, 4), torch.randn(rows, 4)


def test_a_replay_computes_from_new_values_and_keeps_what_it_returned() -> None:
    function = Denoiser()
    call = CudaGraphCall(function, traced)
    made = [call(*inputs(2, seed)) for seed in range(3)]
    for seed, value in enumerate(made):
        torch.testing.assert_close(value, Denoiser()(*inputs(2, seed)), rtol=0, atol=0)
    assert function.calls == 2  # the first value, and the recording
    assert (call.recorded, call.refused) == (1, "")


def test_each_shape_has_a_recording_of_its_own_and_there_are_not_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cuda_graph_call, "MOST", 2)
    call = CudaGraphCall(Denoiser(), traced)
    for rows in (1, 2, 3, 1, 3):
        torch.testing.assert_close(call(*inputs(rows, rows)), Denoiser()(*inputs(rows, rows)), rtol=0, atol=0)
    assert call.recorded == 2


def test_what_cannot_be_recorded_is_computed_as_it_is() -> None:
    def by_content(values: Tensor) -> Tensor:
        return values * (2 if values.sum().item() > 0 else 3)

    call = CudaGraphCall(by_content, traced)
    for sign in (1, -1, 1):
        values = torch.full((2,), float(sign))
        torch.testing.assert_close(call(values), by_content(values))
    assert call.recorded == 0
    assert call.refused


def test_a_recording_that_computes_something_else_is_not_used() -> None:
    call = CudaGraphCall(torch.neg, lambda function, given: lambda: given[0] * 1.01)
    for value in (2.0, 3.0):
        assert call(torch.tensor([value])).item() == -value
    assert "differs from the plain computation by 4" in call.refused


def test_a_recording_that_computes_no_number_is_not_used() -> None:
    call = CudaGraphCall(torch.neg, lambda function, given: lambda: given[0] * float("nan"))
    assert [call(torch.tensor([value])).item() for value in (2.0, 3.0)] == [-2.0, -3.0]
    assert call.recorded == 0
    assert "differs from the plain computation by nan" in call.refused


def test_constants_are_made_once() -> None:
    constants = KeptConstants()
    with constants:
        first, other = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0], dtype=torch.float64)
        assert torch.tensor([1.0, 2.0]) is first
        assert other.dtype == torch.float64
    assert torch.tensor([1.0, 2.0]) is not first


@pytest.mark.gpu
def test_a_cuda_graph_computes_what_the_function_does() -> None:
    function = Denoiser()
    function.weight = function.weight.cuda()

    def on_gpu(seen: Tensor, noise: Tensor) -> Tensor:
        for _ in range(3):
            noise = noise + torch.tensor([0.1], device="cuda") * torch.tanh((noise + seen) @ function.weight)
        return noise

    call = CudaGraphCall(on_gpu, CudaGraphs())
    for seed in range(3):
        given = [tensor.cuda() for tensor in inputs(2, seed)]
        torch.testing.assert_close(call(*given), on_gpu(*given), rtol=1e-5, atol=1e-5)
    assert (call.recorded, call.refused) == (1, "")
