"""Settings of a sidecar that are common to all families."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SidecarSettings:
    """Settings for finding, starting and supervising a server."""

    host: str = "127.0.0.1"
    """Address of the server; on another machine, a server is only used and never started."""
    port: int = 0
    """TCP port; 0: any running server that fits, else a new one on a free port."""
    auto_spawn: bool = True
    """Whether a server may be started; False: only a running one is used."""
    shared: bool = True
    """Whether the server may be shared; False: a new server for this client alone, such as a simulator with a state."""
    source: Path | None = None
    """Folder with upstream's code, instead of the source of the spec."""
    python: Path | None = None
    """Interpreter to run, instead of an environment built from the spec."""
    token: str = ""
    """Token of a server that was started by hand; empty: the one that its identity file names."""
    call_timeout_s: float = 30.0
    """[s] deadline of a call (the latency budget); a server without an answer for twice as long is restarted."""
    boot_timeout_s: float = 900.0
    """[s] timeout of a server's start with its model."""
    restart_pauses_s: tuple[float, ...] = (1.0, 5.0, 20.0)
    """[s] pauses before the restarts; after the last restart, a further fault is final."""
