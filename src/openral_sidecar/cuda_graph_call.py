"""A function of tensors whose GPU work is captured as a CUDA graph once for each set of shapes, and then replayed.

The time of a small model is dominated by launching its kernels one by one: SmolVLA's 16,400 launches took 350 ms on an
H100, whose kernels ran for 35 ms of them. A CUDA graph launches all of them at once. The function must not depend on
values: no branch on a tensor's content, and no tensor from Python numbers; of the latter, `torch.tensor` is handled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

Function = Callable[..., Tensor]
Replay = Callable[[], Tensor]
Recorder = Callable[[Function, "tuple[Tensor, ...]"], Replay]
"""(function, its inputs) -> a function that computes the first again from what these tensors hold by then."""
WARM_UPS = 2
"""Calls before the capture, in which libraries allocate memory and choose kernels."""
MOST = 16
"""Largest number of recordings; inputs of further shapes are computed without one, with the same result."""
TOLERANCE = 1e-3
"""Largest difference of a replay from the plain computation, relative to the latter's largest absolute value.

A graph runs the same kernels, so that only sums differ whose order changes from call to call."""
_log = logging.getLogger(__name__)


class CudaGraphCall:
    """Calls a function by the replay of a recording, or the function itself if none can be made."""

    def __init__(self, function: Function, record: Recorder) -> None:
        """Begin without a recording.

        Args:
            function: takes tensors of one device and returns a tensor on it, without side effects.
            record: makes the recordings, such as `CudaGraphs`.
        """
        self._function, self._record = function, record
        self._recordings: dict[Any, tuple[tuple[Tensor, ...], Replay]] = {}
        self.records = True
        """Whether inputs of new shapes are recorded."""
        self.refused = ""
        """Reason why no more recordings are made; empty: there is none."""

    @property
    def recorded(self) -> int:
        """Number of recordings."""
        return len(self._recordings)

    @torch.no_grad()
    def __call__(self, *inputs: Tensor) -> Tensor:
        """Return the function's value, in memory that later calls do not overwrite."""
        shapes = tuple((tensor.shape, tensor.dtype) for tensor in inputs)
        if shapes in self._recordings:
            held, replay = self._recordings[shapes]
            for mine, given in zip(held, inputs, strict=True):
                mine.copy_(given)
            return replay().clone()
        value = self._function(*inputs)
        if self.records and not self.refused and len(self._recordings) < MOST:
            self._add(shapes, inputs, value)
        return value

    def _add(self, shapes: Any, inputs: tuple[Tensor, ...], value: Tensor) -> None:
        """Record inputs of these shapes, and keep the recording if its replay agrees with the plain value."""
        held = tuple(tensor.clone() for tensor in inputs)
        try:
            replay = self._record(self._function, held)
            apart = (replay().float() - value.float()).abs().max().item()
        except Exception as error:  # noqa: BLE001  on any failure the plain computation is used
            self._refuse(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            return
        if not apart <= TOLERANCE * max(value.float().abs().max().item(), 1e-6):  # nan is refused, too
            self._refuse(f"a replay differs from the plain computation by {apart:.2g}")
            return
        self._recordings[shapes] = held, replay

    def _refuse(self, why: str) -> None:
        self.refused = why
        _log.warning("no CUDA graph, kernels are launched one by one: %s", why)


class CudaGraphs:
    """Captures work on the present GPU as CUDA graphs, which share memory, as they run one after the other."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._aside: Any = None
        """Stream of all warm-ups; one is reused, as cuBLAS keeps about 30 MB for each stream."""

    def __call__(self, function: Function, inputs: tuple[Tensor, ...]) -> Replay:
        """Capture a function; see `Recorder`.

        Raises:
            RuntimeError: an operation in it cannot be captured.
        """
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        constants = KeptConstants()
        current = torch.cuda.current_stream()
        aside = self._aside = self._aside or torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(current)
        torch.cuda.empty_cache()  # frees the plain call's cache, which another stream cannot use
        with torch.cuda.stream(aside), constants:
            for _ in range(WARM_UPS):
                function(*inputs)
        current.wait_stream(aside)
        torch.cuda.empty_cache()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool), constants:
            value = function(*inputs)

        def replay(constants: KeptConstants = constants) -> Tensor:  # kept alive, as the graph reads them
            graph.replay()
            return value

        return replay


class KeptConstants(TorchFunctionMode):
    """While active, `torch.tensor` of equal arguments returns the same tensor, as a capture may not copy host data."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Tensor] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of torch, or return the tensor that it made from equal arguments before."""
        kwargs = kwargs or {}
        if func is not torch.tensor or any(isinstance(arg, Tensor) for arg in args):
            return func(*args, **kwargs)
        key = repr((args, sorted(kwargs.items())))
        if key not in self.kept:
            self.kept[key] = func(*args, **kwargs)
        return self.kept[key]
