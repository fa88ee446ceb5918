"""Which matrices are worth packing, by their size. This module needs no torch."""

from __future__ import annotations

MIN_NUMEL = 4_000_000
"""Weights below this are left alone: they save little, and the small heads that decide the result stay exact."""
BLOCK = 64
"""Weights that share one scale; the default of bitsandbytes for NF4."""
BYTES = 0.5 + 1 / BLOCK + 4 / (BLOCK * 256)
"""[byte] a packed weight: half a byte, a byte for every 64, and a float32 for every 256 of those."""


def packable(shape: tuple[int, ...], min_numel: int = MIN_NUMEL) -> bool:
    """Whether a weight of this shape is a matrix, large enough, and made of whole blocks."""
    numel = shape[0] * shape[1] if len(shape) == 2 else 0
    return numel >= min_numel and numel % BLOCK == 0
