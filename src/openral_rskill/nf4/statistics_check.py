"""Checks the statistics of a packed layer before bitsandbytes reads them.

Its kernels take the number of scales from the block size that the file states, and read beyond the end of shorter ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

_STATE = "quant_state.bitsandbytes__nf4"
_BLOCKS = tuple(2**power for power in range(5, 13))
"""Numbers of weights that may share a scale."""
_NESTED_BLOCK = 256
"""Number of scales that share one of second level; bitsandbytes has no other."""
_LEVELS, _NESTED_LEVELS = 16, 256
"""Values of 4 and of 8 bits."""
_DTYPES = ("bfloat16", "float16", "float32")


def statistics_fault(statistics: Mapping[str, Tensor], shape: tuple[int, int]) -> str | None:
    """Return which of a packed layer's statistics does not fit its weights, or None.

    Args:
        statistics: of the file, by their names without that of the layer.
        shape: (out_features, in_features) of the layer.
    """
    is_nested = "nested_absmax" in statistics
    try:
        fields = json.loads(bytes(statistics[_STATE].cpu().numpy().tobytes()))
        if not _is_described(fields, shape, is_nested):
            return f"{_STATE} describes another layer"
        scales = -(-math.prod(shape) // fields["blocksize"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return f"{_STATE} cannot be read"
    wanted = {
        "quant_map": (torch.float32, _LEVELS),
        "absmax": (torch.uint8 if is_nested else torch.float32, scales),
    }
    if is_nested:
        wanted["nested_absmax"] = torch.float32, -(-scales // _NESTED_BLOCK)
        wanted["nested_quant_map"] = torch.float32, _NESTED_LEVELS
    for name, (dtype, count) in wanted.items():
        found = statistics.get(name)
        if found is None or found.dtype != dtype or found.numel() != count:
            have = "is missing" if found is None else f"has {found.numel()} values of {found.dtype}"
            return f"{name} {have}, needed {count} of {dtype}"
    if others := sorted(set(statistics) - {_STATE, *wanted}):
        return f"{others[0]} is none of its statistics"
    return None


def _is_described(fields: dict[str, Any], shape: tuple[int, int], is_nested: bool) -> bool:
    plain = (
        fields["quant_type"] == "nf4"
        and type(fields["blocksize"]) is int
        and fields["blocksize"] in _BLOCKS
        and list(fields["shape"]) == list(shape)
        and fields["dtype"] in _DTYPES
    )
    if not is_nested:
        return plain and "nested_blocksize" not in fields
    nested = fields["nested_blocksize"], fields["nested_dtype"]
    return plain and nested == (_NESTED_BLOCK, "float32") and math.isfinite(fields["nested_offset"])
