"""What a sidecar is made of: an interpreter, requirements, upstream's code, and the module that serves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

DialectName = Literal["openral", "rldx"]


@dataclass(frozen=True)
class InstallStep:
    """One `uv pip install`; steps run in order, and a later one may change what an earlier one installed."""

    requirements: tuple[str, ...]
    """PEP 508 requirements."""
    no_deps: bool = False
    """Install exactly these, without what they ask for."""


@dataclass(frozen=True)
class Source:
    """Where upstream's own code comes from. It is installed after the steps, without its dependencies."""

    kind: Literal["package", "git", "folder"]
    location: str
    """A requirement, an https URL, or a path."""
    revision: str = ""
    """git: the full commit."""


@dataclass(frozen=True)
class SidecarSpec:
    """A kind of sidecar; one environment serves every skill of the family.

    `environment` are variables of the server process; OMP_NUM_THREADS=1 is set unless it says otherwise.
    """

    name: str
    """Also the name of its folder in the cache: letters, digits, `_`, `-`."""
    python: str
    """`major.minor` of the interpreter."""
    steps: tuple[InstallStep, ...]
    module: str
    """The server, run as `python -m <module> <arguments> --port P …`."""
    parser: str = ""
    """`module:function` that returns the server's argparse parser and can be imported in our interpreter, by which
    `openral sidecar start` looks at the arguments before it builds anything; empty: it does not."""
    source: Source | None = None
    dialect: DialectName = "openral"
    environment: Mapping[str, str] = field(default_factory=dict)
    description: str = ""

    @property
    def digest(self) -> str:
        """sha256 (64 hex digits) over what decides the content of the environment, and nothing else."""
        content = {
            "python": self.python,
            "steps": [asdict(step) for step in self.steps],
            "source": asdict(self.source) if self.source else None,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def with_source(self, folder: Path | None) -> SidecarSpec:
        """Return the spec with upstream's code from a folder of this machine; None: as it is."""
        if folder is None:
            return self
        return replace(self, source=Source("folder", str(folder.expanduser().absolute())))
