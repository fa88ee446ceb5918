"""Counts the bytes of tensors that operations make, at their peak, as a device would be asked for them; and copies.

Tensors that are mapped to files cost nothing here, as on the machine, until an operation copies them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class StorageMeter(TorchDispatchMode):
    """Use as a context manager, then read `peak` and `now`."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        """[bytes] the most that lived at one time."""
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}

    @property
    def now(self) -> int:
        """[bytes] that live."""
        self._alive = {key: entry for key, entry in self._alive.items() if not entry[0].expired()}
        return sum(size for _, size in self._alive.values())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        given = {
            value.untyped_storage()._cdata
            for value in tree_leaves((args, kwargs))
            if isinstance(value, torch.Tensor)
        }
        for value in tree_leaves(out):
            if not isinstance(value, torch.Tensor) or value.is_meta:
                continue
            if (storage := value.untyped_storage())._cdata not in given:
                self._alive.setdefault(storage._cdata, (StorageWeakRef(storage), storage.nbytes()))
        self.peak = max(self.peak, self.now)
        return out


class CopyMeter(TorchDispatchMode):
    """Notes what is copied to a device from elsewhere; use as a context manager, then read `copied`."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.copied: list[int] = []
        """[bytes] of each copy."""
        self._device = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        given = [value for value in tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
        for value in tree_leaves(out):
            if isinstance(value, torch.Tensor) and value.device.type == self._device:
                self.copied += [
                    part.nbytes for part in given if part.device.type != self._device and part.ndim
                ]
        return out
