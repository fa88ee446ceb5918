"""Which model answers at a port."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """What a client must agree on with a server before it trusts an answer."""

    model: str
    """Hub id or path of the checkpoint."""
    tag: str = ""
    """Which of the checkpoint's embodiments, suites or heads is served."""
    quantization: str = "none"
    revision: str = ""
    """Commit of the checkpoint; empty: not pinned."""

    def __str__(self) -> str:
        words = [self.model, f"tag {self.tag or '-'}", f"quantization {self.quantization}"]
        return ", ".join([*words, f"revision {self.revision[:12] or '-'}"])
