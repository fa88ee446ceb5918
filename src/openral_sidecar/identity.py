"""The identity of the model that a server serves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """The identity of a served model, which must be equal on client and server."""

    model: str
    """Hub id or path of the checkpoint."""
    tag: str = ""
    """Embodiment, suite or head of the checkpoint that is served; empty: it has only one."""
    quantization: str = "none"
    revision: str = ""
    """Commit of the checkpoint; empty: not pinned."""

    def __str__(self) -> str:
        words = [self.model, f"tag {self.tag or '-'}", f"quantization {self.quantization}"]
        return ", ".join([*words, f"revision {self.revision[:12] or '-'}"])
