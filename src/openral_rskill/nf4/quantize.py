"""One weight matrix and its packed form, bit for bit as bitsandbytes packs it, a few rows at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from openral_rskill.nf4.packable_weights import BLOCK

NESTED_BLOCK = 256
"""Scales that share one scale of their own; fixed in `bitsandbytes.functional.quantize_4bit`."""
CHUNK = 2_097_152
"""Weights quantised at once, which bounds what is held besides the result: 4 MB in bf16, 8 MB in float32."""


class Rows(Protocol):
    """What is needed of a source: a Tensor has it, and so has a slice of a safetensors file."""

    def __getitem__(self, rows: slice) -> Tensor: ...


def quantize_weight(
    source: Rows, shape: tuple[int, int], dtype: torch.dtype, device: torch.device | str = "cpu"
) -> tuple[Tensor, Any]:
    """Quantise a matrix without ever holding more than a few rows of it in full width.

    Equal to `bitsandbytes.functional.quantize_4bit(..., quant_type="nf4", compress_statistics=True)` on the whole
    matrix: the blocks are independent of each other, and the scales are compressed only when all are known. The bits
    are the same for any number of threads (bitsandbytes' own are those for one) and on every device.

    Args:
        source: the rows.
        shape: (out_features, in_features); the product must be a multiple of 64.
        dtype: bf16, fp16 or fp32; the rows are cast to it first, and the state remembers it.
        device: where the rows are quantised, a chunk at a time, and where the result is.

    Returns:
        (numel / 2, 1) uint8, two weights a byte, and the QuantState that undoes it.
    """
    from bitsandbytes import functional

    out_features, in_features = shape
    step = max(1, CHUNK // in_features)
    # Whole blocks only: with 64 rows in a chunk any width will do, with a width in blocks any number of rows.
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
    # The second level is computed on the CPU, whose kernel for it rounds otherwise than CUDA's: so the file that a GPU
    # packs is the one that a CPU packs.
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
    """A sum of floats depends on how it is divided among threads, and with it the last bit of all that follows."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def packed_linear(linear: nn.Linear, weight: Tensor, statistics: dict[str, Tensor]) -> nn.Module:
    """Return the 4-bit layer that takes the place of `linear`.

    Args:
        linear: gives shape, dtype of the computation and the bias, which it shares.
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
    # A copy, because from_prequantized takes the dictionary apart; the device, because its default is "cuda".
    layer.weight = Params4bit.from_prequantized(
        weight, dict(statistics), requires_grad=False, device=weight.device, module=layer
    )
    # On CPUs with AVX512-BF16 the layer would rewrite its weights at the first forward pass, which changes the numbers
    # from machine to machine and makes the weights unfit to be saved.
    layer.support_avx512bf16_for_cpu = False
    packed: nn.Module = layer.train(linear.training)
    return packed
