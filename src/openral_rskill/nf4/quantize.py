"""Quantisation of one weight matrix, a few rows at a time, with the same bits as by bitsandbytes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from openral_rskill.nf4.packable_weights import BLOCK

NESTED_BLOCK = 256
"""Number of scales that share one scale of second level; fixed in `bitsandbytes.functional.quantize_4bit`."""
CHUNK = 2_097_152
"""Number of weights quantised at once, which bounds the memory besides the result: 4 MB in bf16, 8 MB in float32."""


class Rows(Protocol):
    """A source of rows: a Tensor, or a slice of a safetensors file."""

    def __getitem__(self, rows: slice) -> Tensor: ...


def quantize_weight(
    source: Rows, shape: tuple[int, int], dtype: torch.dtype, device: torch.device | str = "cpu"
) -> tuple[Tensor, Any]:
    """Quantise a matrix with only a few rows of it in full precision in memory.

    The result equals that of `bitsandbytes.functional.quantize_4bit(..., quant_type="nf4", compress_statistics=True)`
    for the whole matrix, since blocks are independent and scales are compressed when all are known. The bits do not
    depend on the number of threads (they are those of bitsandbytes with one thread) or on the device.

    Args:
        source: of the rows.
        shape: (out_features, in_features); the product must be a multiple of 64.
        dtype: bf16, fp16 or fp32, to which the rows are cast before; it is stored in the state.
        device: that quantises the rows, a chunk at a time, and holds the result.

    Returns:
        The packed weights (numel / 2, 1) uint8, two per byte, and the QuantState for dequantisation.
    """
    from bitsandbytes import functional

    out_features, in_features = shape
    step = max(1, CHUNK // in_features)
    # A chunk must consist of whole blocks: either its number of rows or the width is a multiple of 64.
    step = step if in_features % BLOCK == 0 else max(BLOCK, step // BLOCK * BLOCK)
    packed, scales, code = [], [], None
    for begin in range(0, out_features, step):
        rows = source[begin : begin + step].to(device, dtype).contiguous()
        part, state = functional.quantize_4bit(
            rows, blocksize=BLOCK, compress_statistics=False, quant_type="nf4"
        )
        packed.append(part.reshape(-1))
        scales.append(state.absmax)
        code = state.code
    # The second level is always computed on the CPU, since its kernel rounds differently from CUDA's; so a GPU and a
    # CPU make the same file.
    absmax = torch.cat(scales).cpu()
    with _one_thread():
        offset = absmax.mean()
    nested, nested_state = functional.quantize_blockwise(absmax - offset, blocksize=NESTED_BLOCK)
    state = functional.QuantState(
        absmax=nested,
        shape=torch.Size(shape),
        code=code,
        blocksize=BLOCK,
        quant_type="nf4",
        dtype=dtype,
        offset=offset,
        state2=nested_state,
    )
    state.to(device)
    return torch.cat(packed).unsqueeze(1), state


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread of torch inside the block, since the last bits of a float sum depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def packed_linear(linear: nn.Linear, weight: Tensor, statistics: dict[str, Tensor]) -> nn.Module:
    """Return the 4-bit layer that takes the place of `linear`.

    Args:
        linear: from which shape, dtype of the computation and the bias (shared) are taken.
        weight: (numel / 2, 1) uint8.
        statistics: the packed QuantState, `QuantState.as_dict(packed=True)`; not changed.
    """
    from bitsandbytes.nn import Linear4bit, Params4bit

    layer = Linear4bit(
        linear.in_features,
        linear.out_features,
        bias=False,
        compute_dtype=linear.weight.dtype,
        compress_statistics=True,
        quant_type="nf4",
        device=torch.device("meta"),
    )
    layer.bias = linear.bias
    # The dictionary is copied because from_prequantized modifies it; the device is given because its default is "cuda".
    layer.weight = Params4bit.from_prequantized(
        weight, dict(statistics), requires_grad=False, device=weight.device, module=layer
    )
    # On CPUs with AVX512-BF16 the layer would repack its weights at the first forward pass, so that results would
    # depend on the machine and the weights could not be saved.
    layer.support_avx512bf16_for_cpu = False
    packed: nn.Module = layer.train(linear.training)
    return packed
