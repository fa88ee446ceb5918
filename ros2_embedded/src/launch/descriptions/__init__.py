"""Descriptions of what actions work on."""

from .executable import Executable

__all__ = ["Executable"]
