"""Which build of torch is installed: a wheel of this machine, a CPU build, or the package index's.

    python tools/torch_wheel.py

prints what it would be for this interpreter, as words for `uv pip install`.

On Linux the package index's own build brings CUDA. The small CPU builds lie on an index of torch's own, which cannot
be reached where only a proxy of the package index can; then the index's build is taken, and one line says what that
costs. `UV_TORCH_BACKEND` (`auto`, `cu130`, ...) asks for another build, and comes before a wheel of this machine if it
can be had.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from openral_sidecar.environment.pip_settings import uv_settings

TORCH = "torch==2.13.0"
LOOK_ONLY = ("--quiet", "--dry-run", "--no-deps")


@dataclass(frozen=True)
class Choice:
    """What is asked of uv.

    Attributes:
        words: the last words of `uv pip install`.
        note: one line for the user, or empty.
    """

    words: tuple[str, ...]
    note: str = ""


def choose(here: bool, backend: str, reachable: bool, platform: str = sys.platform) -> Choice:
    """Return which torch to ask for.

    Args:
        here: that version is installed already, or lies in a wheel folder that uv or pip was told of.
        backend: which build is wanted where no folder has one: `cpu`, `auto`, `cu130`, ...
        reachable: torch's own index has that build, and can be reached.
        platform: as `sys.platform`.
    """
    if here:
        return Choice((TORCH,))
    if reachable:
        return Choice((f"--torch-backend={backend}", TORCH))
    cost = (
        "; this build brings CUDA, several GB to download and more on disk, where the CPU's has 0.2 GB"
        if platform == "linux" and backend == "cpu"
        else ""
    )
    return Choice(
        (TORCH,),
        f"openral: torch's own index, which has its {backend} builds, does not answer; taking {TORCH} from the package "
        f"index{cost} (PIP_FIND_LINKS=FOLDER names a folder with another wheel)",
    )


def choice(uv: str, python: str, environ: Mapping[str, str]) -> Choice:
    """Return which torch to ask for on this machine; takes up to a minute where torch's index does not answer.

    Args:
        uv: the program.
        python: the interpreter of the environment to install into.
        environ: the variables that uv runs with, `uv_settings` among them.
    """

    def finds(*words: str, without: str = "") -> bool:
        command = [uv, "pip", "install", *LOOK_ONLY, "--python", python, *words, TORCH]
        variables = {name: value for name, value in environ.items() if name != without}
        return subprocess.run(command, env=variables, capture_output=True, check=False).returncode == 0

    asked = environ.get("UV_TORCH_BACKEND")
    here = finds("--no-index", without="UV_TORCH_BACKEND")
    reachable = bool(asked or not here) and finds(f"--torch-backend={asked or 'cpu'}")
    return choose(here=here and not reachable, backend=asked or "cpu", reachable=reachable)


def main() -> int:
    """Print the words on standard output and the note, if there is one, on standard error."""
    environ = {**os.environ, **uv_settings(os.environ)}
    chosen = choice(str(Path(sys.executable).with_name("uv")), sys.executable, environ)
    sys.stdout.write(" ".join(chosen.words) + "\n")
    sys.stderr.write(chosen.note and chosen.note + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
