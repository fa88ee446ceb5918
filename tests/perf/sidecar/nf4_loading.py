"""Loads a checkpoint in a process of its own and says as JSON what it cost; runs in robometer's sidecar.

nf4_loading.py FOLDER MIN_NUMEL     plain weights are packed in place, packed ones are taken as they are
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from pathlib import Path

import numpy as np
import torch

from openral_reward_monitor.models.robometer.server import pin_kernels
from openral_sidecar.environment.torchvision_shim import ensure_torchvision


def memory(field: str) -> int:
    """Return a field of /proc/self/status in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) // 1024


class Peak:
    """Highest memory that is not mapped files; of all memory the kernel itself keeps the peak."""

    def __init__(self) -> None:
        self.anonymous, self._done = memory("RssAnon"), threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._done.wait(0.002):
            self.anonymous = max(self.anonymous, memory("RssAnon"))

    def __enter__(self) -> Peak:
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.anonymous = max(self.anonymous, memory("RssAnon"))


def main() -> None:
    folder, min_numel = Path(sys.argv[1]), int(sys.argv[2])
    ensure_torchvision()
    import bitsandbytes  # noqa: F401  its import is no part of loading

    from openral_reward_monitor.models.robometer.checkpoint import load_rbm
    from openral_reward_monitor.models.robometer.inputs import RbmInputs

    pin_kernels()
    inputs = RbmInputs(folder)
    before, before_anonymous = memory("VmRSS"), memory("RssAnon")
    with Peak() as peak:
        begun = time.perf_counter()
        model, packed = load_rbm(folder, inputs, device="cpu", quantize=True, min_numel=min_numel)
        seconds = time.perf_counter() - begun
    loaded = memory("VmHWM")
    frames = np.random.default_rng(0).integers(0, 255, (8, 96, 128, 3), dtype=np.uint8)
    begun = time.perf_counter()
    logits = model(inputs.progress(frames, "open the drawer"))
    values = torch.cat([logits.progress.flatten(), logits.success])
    print(
        json.dumps(
            {
                "seconds": round(seconds, 3),
                "peak_mb": loaded - before,
                "peak_own_mb": peak.anonymous - before_anonymous,
                "first_forward_s": round(time.perf_counter() - begun, 2),
                "resident_after_forward_mb": memory("VmRSS") - before,
                "packed": packed,
                "logits": hashlib.sha256(values.numpy().tobytes()).hexdigest(),
                "finite": bool(values.isfinite().all()),
            }
        )
    )


if __name__ == "__main__":
    main()
