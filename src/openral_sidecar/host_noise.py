"""Random numbers that are the same on every device: they are drawn on the CPU and sent to the device that asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DRAWS = (torch.randn, torch.normal)
"""Functions by which samplers draw their noise; the others are left as they are."""


class HostNoise(TorchFunctionMode):
    """A context in which noise for a GPU comes from the CPU's generator.

    A GPU's generator gives other numbers than a CPU's for the same seed, so a policy that samples would act differently
    on the two. Draws with a generator of their own are left as they are.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call `func`, on the CPU if it draws noise for another device."""
        named = dict(kwargs or {})
        device = named.get("device")
        if func not in DRAWS or device is None or named.get("generator") is not None:
            return func(*args, **named)
        return func(*args, **{**named, "device": "cpu"}).to(device)
