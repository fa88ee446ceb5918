"""Specification of a sidecar: interpreter, requirements, upstream's code, and the module of the server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from openral_core.files.user_path import user_path

DialectName = Literal["openral", "rldx"]


@dataclass(frozen=True)
class InstallStep:
    """One `uv pip install`; steps run in order, and a later one may change what an earlier one installed."""

    requirements: tuple[str, ...]
    """PEP 508 requirements."""
    no_deps: bool = False
    """Whether to install the requirements without their dependencies."""


@dataclass(frozen=True)
class Source:
    """Source of upstream's own code, which is installed after the steps, without its dependencies."""

    kind: Literal["package", "git", "folder"]
    location: str
    """By kind: a requirement, an https URL, or a path."""
    revision: str = ""
    """Full commit hash, for kind git."""


@dataclass(frozen=True)
class SidecarSpec:
    """A kind of sidecar; one environment serves all skills of the family.

    `environment` has environment variables of the server's process; OMP_NUM_THREADS defaults to 1.
    """

    name: str
    """Name of the sidecar, and prefix of its folder in the cache: letters, digits, `_`, `-`."""
    python: str
    """Version of the interpreter, `major.minor`."""
    steps: tuple[InstallStep, ...]
    module: str
    """Module of the server, run as `python -m <module> <arguments> --port P …`."""
    parser: str = ""
    """`module:function` that returns the server's argparse parser, importable in openral's interpreter.

    With it, `openral sidecar start` checks the arguments before it builds the environment; empty: it does not."""
    source: Source | None = None
    dialect: DialectName = "openral"
    environment: Mapping[str, str] = field(default_factory=dict)
    description: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 (64 hex digits) of the fields that determine the content of the environment."""
        content = {
            "python": self.python,
            "steps": [asdict(step) for step in self.steps],
            "source": asdict(self.source) if self.source else None,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def with_source(self, folder: Path | None) -> SidecarSpec:
        """Return the spec with upstream's code from a folder of this machine; None: the spec itself."""
        if folder is None:
            return self
        return replace(self, source=Source("folder", str(user_path(folder).absolute())))
