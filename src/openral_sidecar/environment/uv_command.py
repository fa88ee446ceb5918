"""Runs `uv`, and summarises its errors in one line."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from openral_core.errors import SidecarError
from openral_sidecar.environment.pip_settings import uv_settings

AGAIN = "then try again: the build goes on where it was"
FIXES = (
    (
        r"No space left|os error 28|Disk quota",
        f"free disk space or set OPENRAL_CACHE_HOME to another disk, {AGAIN}",
    ),
    (
        r"Permission denied|Read-only file system",
        f"set OPENRAL_CACHE_HOME to a folder that you may write, {AGAIN}",
    ),
    (
        r"No interpreter found|python-build-standalone",
        f"install that Python (pyenv, apt, dnf, brew), {AGAIN}",
    ),
    (
        r"error sending request|Failed to (fetch|download)|dns error|network was disabled|Connection|timed out",
        f"check the network, or set UV_FIND_LINKS to a folder that has the wheels, {AGAIN}",
    ),
    (
        r"No solution found|unsatisfiable|not found in the package registry",
        "fix the requirements of the spec",
    ),
    (r"[Gg]it (operation|executable)|git fetch", "check that git is installed and the commit exists"),
)
"""(regular expression for uv's output, remedy); the first match applies."""
LONGEST = 400
"""Largest number of characters of uv's message in an error."""


class Uv:
    """The `uv` command.

    Args:
        name: of the environment in messages.
        say: called with every line that uv prints on standard error.

    Raises:
        SidecarError: uv is not installed.
    """

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        self._name = name
        self._say = say
        self._command = find_uv()
        self._variables = uv_variables()

    def run(self, *arguments: str) -> str:
        """Run uv, and return its standard output.

        Raises:
            SidecarError: uv failed; the message has the cause and a remedy.
        """
        lines: list[str] = []
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [*self._command, *arguments],
                env=self._variables,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
            try:
                assert process.stderr is not None
                for line in process.stderr:
                    lines.append(line.strip())
                    self._say(f"{self._name}: {line.strip()}")
                code = process.wait()
            finally:
                process.kill()
            if code:
                raise SidecarError(f"sidecar {self._name}: {explain(lines)}")
            output.seek(0)
            return output.read()


def find_uv() -> list[str]:
    """Return the command of uv: beside this interpreter, on PATH, or as a module.

    Raises:
        SidecarError: uv is not installed.
    """
    beside = Path(sys.executable).with_name("uv")
    if os.access(beside, os.X_OK):
        return [str(beside)]
    if (found := shutil.which("uv")) is not None:
        return [found]
    if importlib.util.find_spec("uv") is not None:
        return [sys.executable, "-m", "uv"]
    raise SidecarError("uv, which builds the environments of sidecars, is not installed; `pip install uv`")


def explain(lines: Sequence[str]) -> str:
    """Return one line from uv's output: the error, its causes, and a remedy."""
    start = next((n for n, line in enumerate(lines) if line.startswith("error:")), max(0, len(lines) - 3))
    text = "; ".join(re.sub(r"^(error|cause): *", "", line) for line in lines[start:] if line) or "uv failed"
    fix = next((fix for pattern, fix in FIXES if re.search(pattern, text)), "fix that, then try again")
    return f"{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}; {fix}"


def uv_variables() -> dict[str, str]:
    """Return this process's environment variables for uv, with pip's settings, which uv does not read."""
    ours = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    ours.update(uv_settings(ours))
    if not ours.get("UV_FIND_LINKS"):
        ours.setdefault("UV_TORCH_BACKEND", "auto")  # the build of torch that this machine's GPU can run
    return {**ours, "PATH": os.pathsep.join(_real_interpreters(ours.get("PATH", ""))), "NO_COLOR": "1"}


def _real_interpreters(path: str) -> list[str]:
    """Return the folders of PATH, with pyenv's versions in place of its shims, which fail for unselected versions."""
    folders: list[str] = []
    for folder in path.split(os.pathsep):
        shims = Path(folder)
        if shims.name == "shims" and (versions := shims.with_name("versions")).is_dir():
            folders += sorted((str(found) for found in versions.glob("3.*/bin")), reverse=True)
        else:
            folders.append(folder)
    return folders
