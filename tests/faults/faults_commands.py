"""One `openral` command as a user types it, with what it cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from faults_files import PLUGIN

BIN = Path(sys.executable).parent
PATIENCE_S = 240.0
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stderr.write(f"\\npeak {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\\n")
sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
"""


@dataclass(frozen=True)
class Ran:
    """What became of a command."""

    code: int
    said: str
    """Both streams."""
    seconds: float
    peak_mb: float
    """[MiB] greatest memory of it and what it started, each for itself."""


def run(*command: str, cwd: Path | None = None, **variables: str) -> Ran:
    """Run a command of the installation to its end."""
    words = [sys.executable, "-c", MEASURED, str(BIN / command[0]), *command[1:]]
    begun = time.perf_counter()
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    seconds = time.perf_counter() - begun
    errors, _, peak = done.stderr.rpartition("\npeak ")
    return Ran(done.returncode, done.stdout + errors, seconds, int(peak) / 1024)


def serve(cache: Path, said: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start the faults' sidecar server by hand, as an operator would; what it says goes to the file `said`."""
    environment = {**os.environ, "OPENRAL_CACHE_HOME": str(cache), "PYTHONPATH": str(PLUGIN)}
    command = [
        sys.executable,
        "-m",
        "faults_sidecar",
        "--dials",
        str(cache / "dials"),
        "--model",
        "m",
        "--alone",
    ]
    with said.open("w") as output:
        return subprocess.Popen([*command, *words], env=environment, stdin=subprocess.DEVNULL, stderr=output)
