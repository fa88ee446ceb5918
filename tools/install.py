"""Install openral with pinned and hashed dependencies into the environment whose interpreter runs this.

    .venv/bin/python tools/install.py runtime

`make` calls it. `requirements/lock.txt` has one version of every dependency and the hashes of its files; torch alone
is pinned without a hash, because its builds differ. The project itself is installed in place. What pip was told on
this machine (an index, a folder of wheels, a proxy) is told to uv.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from torch_wheel import choice, uv_settings

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "lock.txt"
GROUPS = {
    "runtime": ("./ros2_embedded", ".[sim,models,reasoner,mcp,console,train]"),
    "dev": ("./ros2_embedded[test,interop]", ".[dev,vla]"),
    "perf": (".[perf]",),
    "sidecars": (".[ray,wandb]",),
}
"""What is installed in place for each word; the others come after `runtime`."""


def entry(name: str, lock: str) -> tuple[str, str]:
    """Return the version of a distribution that has one for all Pythons, and its lines, in the text of a lock.

    Raises:
        LookupError: the lock has no such distribution.
    """
    found = re.search(rf"^{re.escape(name)}==(\S+) \\\n(?: +--hash=.*\n?)+", lock, re.MULTILINE)
    if found is None:
        raise LookupError(f"requirements/lock.txt has no {name}; make it anew by: make lock")
    return found[1], found[0]


def ensure_uv(python: str, lock: str) -> str:
    """Return the path of uv beside the interpreter, installed by pip in the version and with the hashes of the lock.

    Raises:
        subprocess.CalledProcessError: pip failed, and has said why.
    """
    version, lines = entry("uv", lock)
    try:
        installed = metadata.version("uv")
    except metadata.PackageNotFoundError:
        installed = ""
    if installed != version:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
            requirements.write(lines)
            requirements.flush()
            # -qq: pip warns of each folder of an extra index that does not have this one distribution.
            pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*pip, "--require-hashes", "-r", requirements.name], check=True)
    return str(Path(python).with_name("uv"))


def install(group: str, python: str, environ: Mapping[str, str]) -> None:
    """Install one group of `GROUPS`.

    Raises:
        subprocess.CalledProcessError: pip or uv failed, and has said why.
    """
    uv = ensure_uv(python, LOCK.read_text())
    told = {**environ, **uv_settings(environ)}
    variables = {name: value for name, value in told.items() if name != "UV_TORCH_BACKEND"}
    command = [uv, "pip", "install", "--quiet", "--python", python, "-c", str(LOCK), "-b", str(LOCK)]
    if group == "runtime":  # by its exact name, before anything that would take another version or build
        torch = choice(uv, python, told)
        sys.stderr.write(torch.note and torch.note + "\n")
        subprocess.run([*command, *torch.words], env=variables, cwd=ROOT, check=True)
    projects = [word for project in GROUPS[group] for word in ("-e", project)]
    subprocess.run([*command, *projects], env=variables, cwd=ROOT, check=True)


def main() -> int:
    """Install the group that the command line names; 1 if pip or uv failed."""
    if len(sys.argv) != 2 or sys.argv[1] not in GROUPS:
        sys.stderr.write(f"usage: install.py {'|'.join(GROUPS)}\n")
        return 2
    try:
        install(sys.argv[1], sys.executable, os.environ)
    except subprocess.CalledProcessError:
        return 1
    except LookupError as error:
        sys.stderr.write(f"openral: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
