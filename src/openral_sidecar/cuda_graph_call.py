"""A function of tensors whose work on a GPU is recorded once for each set of shapes and then replayed as one launch.

A small model on a GPU waits for its kernels to be launched one by one: SmolVLA's 16,400 launches took 350 ms of an H100
that worked for 35 of them. A CUDA graph launches all of them at once. What is recorded must not depend on values: no
branch on a tensor's content, no tensor made from Python's numbers; of the latter, `torch.tensor` is taken care of here.
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
"""Takes a function and its inputs, and returns what computes the function anew from what these tensors hold then."""
WARM_UPS = 2
"""Calls before the recording, in which libraries allocate and choose what they keep."""
MOST = 16
"""Recordings that are kept; inputs of further shapes are computed as they come, with the same result."""
TOLERANCE = 1e-3
"""How far a replay may be from the plain computation, relative to its largest value; a graph runs the same kernels, so
that only sums whose order changes from call to call differ at all."""
_log = logging.getLogger(__name__)


class CudaGraphCall:
    """Calls a function by replaying a recording; where none can be made, the function itself is called."""

    def __init__(self, function: Function, record: Recorder) -> None:
        """Record nothing yet.

        Args:
            function: takes tensors of one device and returns one tensor there; has no other effect.
            record: makes the recordings, such as `CudaGraphs`.
        """
        self._function, self._record = function, record
        self._recordings: dict[Any, tuple[tuple[Tensor, ...], Replay]] = {}
        self.records = True
        """Whether inputs of further shapes are recorded."""
        self.refused = ""
        """Why there are no recordings; empty: nothing speaks against them so far."""

    @property
    def recorded(self) -> int:
        """How many recordings there are."""
        return len(self._recordings)

    @torch.no_grad()
    def __call__(self, *inputs: Tensor) -> Tensor:
        """Return the function's value, of which nothing is overwritten by later calls."""
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
        """Record these shapes and compare the replay with the value that was computed plainly."""
        held = tuple(tensor.clone() for tensor in inputs)
        try:
            replay = self._record(self._function, held)
            apart = (replay().float() - value.float()).abs().max().item()
        except Exception as error:  # noqa: BLE001  whatever a driver refuses, the plain computation goes on
            self._refuse(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            return
        if apart > TOLERANCE * max(value.float().abs().max().item(), 1e-6):
            self._refuse(f"a replay differs from the plain computation by {apart:.2g}")
            return
        self._recordings[shapes] = held, replay

    def _refuse(self, why: str) -> None:
        self.refused = why
        _log.warning("no CUDA graph, kernels are launched one by one: %s", why)


class CudaGraphs:
    """Records work on the present GPU as CUDA graphs, which share their memory: they run one after the other."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._aside: Any = None
        """The stream of all warm-ups; for each stream cuBLAS keeps some 30 MB."""

    def __call__(self, function: Function, inputs: tuple[Tensor, ...]) -> Replay:
        """Record a function; see `Recorder`.

        Raises:
            RuntimeError: something in it cannot be recorded.
        """
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        constants = KeptConstants()
        current = torch.cuda.current_stream()
        aside = self._aside = self._aside or torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(current)
        torch.cuda.empty_cache()  # what the plain call has left, which another stream cannot use
        with torch.cuda.stream(aside), constants:
            for _ in range(WARM_UPS):
                function(*inputs)
        current.wait_stream(aside)
        torch.cuda.empty_cache()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool), constants:
            value = function(*inputs)

        def replay(constants: KeptConstants = constants) -> Tensor:  # the graph reads them, so they must stay
            graph.replay()
            return value

        return replay


class KeptConstants(TorchFunctionMode):
    """While it is active, `torch.tensor` of the same numbers returns the same tensor: a recording may not copy them."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Tensor] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of torch, or return what it made before."""
        kwargs = kwargs or {}
        if func is not torch.tensor or any(isinstance(arg, Tensor) for arg in args):
            return func(*args, **kwargs)
        key = repr((args, sorted(kwargs.items())))
        if key not in self.kept:
            self.kept[key] = func(*args, **kwargs)
        return self.kept[key]
