"""Pictures on their way to a device."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from openral_sidecar.device_transfer import on_device, to_unit


def test_bytes_become_the_numbers_that_numpy_makes_of_them() -> None:
    every = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    found = to_unit(on_device(every[:, ::-1], "cpu"))
    np.testing.assert_array_equal(found.numpy(), every[:, ::-1].astype(np.float32) / 255)
    assert to_unit(on_device(every, "meta")).device.type == "meta"


def test_a_gpu_gets_pinned_memory_in_one_copy_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which copies are asked for; that they are quick is for tests/perf/gpu.py."""
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: asked.append(("pin", self.dtype)) or self)
    monkeypatch.setattr(
        torch.Tensor,
        "to",
        lambda self, where, non_blocking=False: asked.append((where, non_blocking)) or self,
    )
    on_device(np.zeros((2, 4, 4, 3), np.uint8), "cuda")
    assert asked == [("pin", torch.uint8), ("cuda", True)]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU")
def test_a_gpu_makes_the_same_bits_of_them() -> None:
    every = np.arange(256, dtype=np.uint8)
    assert torch.equal(to_unit(on_device(every, "cuda")).cpu(), to_unit(on_device(every, "cpu")))
