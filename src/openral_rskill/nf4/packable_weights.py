"""The rule for which weights are packed, by their shape. This module needs no torch."""

from __future__ import annotations

MIN_NUMEL = 4_000_000
"""Least number of weights of a packed matrix; smaller ones save little memory, and small heads stay exact."""
BLOCK = 64
"""Number of weights that share one scale; the default of bitsandbytes for NF4."""
BYTES = 0.5 + 1 / BLOCK + 4 / (BLOCK * 256)
"""[bytes] per packed weight: half a byte, an 8-bit scale for every 64 weights, and a float32 for every 256 scales."""


def packable(shape: tuple[int, ...], min_numel: int = MIN_NUMEL) -> bool:
    """Return whether a weight of this shape is a matrix, large enough, and divisible into whole blocks."""
    numel = shape[0] * shape[1] if len(shape) == 2 else 0
    return numel >= min_numel and numel % BLOCK == 0
