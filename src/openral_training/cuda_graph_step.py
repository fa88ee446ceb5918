"""Forward and backward pass of a training step, captured once as a CUDA graph and replayed for each batch.

The time of a small network is dominated by launching its kernels one by one: a step of a `mini` policy takes 30 ms on
an H200, and 5 ms as a CUDA graph, which launches all of them at once. The optimiser's own step is not part of the
graph, so that it reads the scheduled learning rate.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from openral_training.data_parallel import TrainingProcess

Step = Callable[..., Tensor]
"""(tensors of a batch) -> loss; it leaves the gradients in the parameters."""
Replay = Callable[[], Tensor]
Recorder = Callable[[Step, "tuple[Tensor, ...]"], Replay]
"""(step, its inputs) -> a function that computes the step again from what these tensors hold by then."""
WARM_UPS = 3
"""Steps before the capture, in which libraries allocate memory and choose kernels; PyTorch's examples use three."""
TOLERANCE = 0.02
"""Largest difference of the gradient of a replay from the plain one, relative to its norm.

The kernels are the same, but sums by atomic additions differ in their last bits, which bf16 products magnify."""
_log = logging.getLogger(__name__)


class CudaGraphStep:
    """A training step that is replayed as a CUDA graph where it could be captured, and else computed as usual."""

    def __init__(self, step: Step, parameters: Sequence[nn.Parameter]) -> None:
        """Begin without a recording.

        Args:
            step: depends on its inputs and the parameters alone, and branches on no value of theirs.
            parameters: the parameters that get gradients.
        """
        self._step, self._parameters = step, parameters
        self._held: tuple[Tensor, ...] = ()
        self._gradients: list[Tensor | None] = []
        self._replay: Replay | None = None

    @property
    def recorded(self) -> bool:
        """Whether there is a recording."""
        return self._replay is not None

    def record(self, inputs: Sequence[Tensor], recorder: Recorder) -> None:
        """Record the step for batches of these shapes, unless that fails or gives another gradient, which is logged.

        Nothing else may use the GPU in the meantime.

        Args:
            inputs: a batch.
            recorder: such as `cuda_graph`.
        """
        self._step(*inputs)
        plain = self._gradient().clone()
        held = tuple(tensor.clone() for tensor in inputs)
        try:
            replay = recorder(self._step, held)
            self._gradients = [parameter.grad for parameter in self._parameters]
            replay()
            apart = ((self._gradient() - plain).norm() / plain.norm().clamp(min=1e-12)).item()
        except Exception as error:  # noqa: BLE001  whatever the driver raises, training goes on without a recording
            _refused(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            return
        if not apart <= TOLERANCE:
            _refused(f"the gradient of a replay differs from the plain one by {apart:.2g} of its length")
            return
        self._held, self._replay = held, replay

    def __call__(self, *inputs: Tensor) -> Tensor:
        """Leave a batch's gradients in the parameters and return its loss, which the next call may overwrite."""
        if self._replay is None or any(
            mine.shape != given.shape for mine, given in zip(self._held, inputs, strict=True)
        ):
            return self._step(*inputs)
        for mine, given in zip(self._held, inputs, strict=True):
            mine.copy_(given)
        for parameter, gradient in zip(self._parameters, self._gradients, strict=True):
            parameter.grad = gradient
        return self._replay()

    def _gradient(self) -> Tensor:
        """Return all gradients as one vector."""
        return torch.cat([p.grad.flatten() for p in self._parameters if p.grad is not None])


def cuda_graph(step: Step, inputs: tuple[Tensor, ...]) -> Replay:
    """Record a step on the current GPU as a CUDA graph; see `Recorder`.

    Raises:
        RuntimeError: an operation of the step cannot be recorded.
    """
    aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(WARM_UPS):
            step(*inputs)
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(*inputs)

    def replay() -> Tensor:
        graph.replay()
        return loss

    return replay


def recorded(
    step: Step, parameters: Sequence[nn.Parameter], batch: Sequence[Tensor], process: TrainingProcess
) -> CudaGraphStep:
    """Return a training step that is replayed as a CUDA graph by a single process on a GPU.

    On a CPU it is computed as usual, and several processes launch their kernels one by one.

    Args:
        step: as for CudaGraphStep.
        parameters: those that get gradients.
        batch: with which the step is recorded.
        process: this process of the run.
    """
    found = CudaGraphStep(step, parameters)
    if process.size == 1 and torch.device(process.device).type == "cuda":
        found.record(batch, cuda_graph)
    return found


def _refused(why: str) -> None:
    _log.warning("no CUDA graph, kernels are launched one by one: %s", why)
