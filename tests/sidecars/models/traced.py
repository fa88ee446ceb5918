"""A trace of tensor operations that stands in for a CUDA graph; runs in a sidecar's interpreter."""

from __future__ import annotations

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from openral_sidecar.cuda_graph_call import Function, KeptConstants, Replay


def traced(function: Function, inputs: tuple[torch.Tensor, ...]) -> Replay:
    """Record a function as `CudaGraphs` does: its second call may make no constants that the first has not made."""
    constants = KeptConstants()
    with constants:
        function(*inputs)
        known = len(constants.kept)
        graph = make_fx(lambda *given: function(*given))(*inputs)
    assert len(constants.kept) == known, "the second call made further constants"
    return lambda: graph(*inputs)
