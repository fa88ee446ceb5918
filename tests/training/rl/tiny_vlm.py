"""A tiny language model that sees, with random weights, in the files of a real one, as the config of a policy."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from openral_training.rl.settings.initial_model import TokenConfig

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
SIZE, WIDTH, BINS = 32, 32, 16


def tiny(folder: Path, chunk: int = 2, dtype: torch.dtype = torch.float32) -> TokenConfig:
    """Write one and return the config of a policy of it."""
    from tiny_checkpoints.llava import (
        make,  # all of transformers: nine seconds for whoever collects the tests
    )

    make("llava", folder, image=SIZE, bins=BINS, dtype=dtype)
    return TokenConfig(model_path=str(folder), chunk=chunk, bins=BINS, lora_rank=4)


def as_the_command_writes(folder: Path) -> TokenConfig:
    """Write what `make_tiny_checkpoint.py llava` does, which has as many action words as OpenVLA."""
    from tiny_checkpoints.llava import make

    make("llava", folder)
    return TokenConfig(model_path=str(folder))
