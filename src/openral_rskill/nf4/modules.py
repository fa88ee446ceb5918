"""Replaces a part of a module tree."""

from __future__ import annotations

from torch import nn


def replace(module: nn.Module, name: str, part: nn.Module) -> None:
    """Put `part` where `module` has its submodule of that dotted name."""
    parent, _, last = name.rpartition(".")
    setattr(module.get_submodule(parent), last, part)
