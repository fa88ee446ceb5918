"""Checkpoints in the file layout of real ones, with random weights: they prove plumbing only."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

LABEL = "random weights, proves plumbing only"
"""Written into the README of every checkpoint made here."""


def on_a_gpu() -> AbstractContextManager[Any]:
    """Return the context in which modules are built on a GPU where there is one: billions of weights in seconds."""
    import torch

    return torch.device("cuda") if torch.cuda.is_available() else nullcontext()
