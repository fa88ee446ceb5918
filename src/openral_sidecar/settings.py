"""What a user may choose about a sidecar, whatever its family."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SidecarSettings:
    """How a sidecar is found, started and watched."""

    host: str = "127.0.0.1"
    """Where the server is. Elsewhere than on this machine it is never started, only used."""
    port: int = 0
    """0: any running server that fits, else a new one on a free port."""
    auto_spawn: bool = True
    """False: only use a server that runs already."""
    shared: bool = True
    """False: a server of our own, used by nobody else, for one that holds a state, as a simulator does."""
    source: Path | None = None
    """Folder with upstream's code, instead of where the spec takes it from."""
    python: Path | None = None
    """Interpreter to run, instead of an environment built from the spec."""
    token: str = ""
    """For a server that was started by hand; empty: what its identity file says."""
    call_timeout_s: float = 30.0
    """Deadline of a call: the latency budget. A server that is silent for twice as long is given up."""
    boot_timeout_s: float = 900.0
    """How long loading the model may take."""
    restart_pauses_s: tuple[float, ...] = (1.0, 5.0, 20.0)
    """Waits before each restart; after the last the fault is latched."""
