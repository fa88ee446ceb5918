"""Write `requirements/lock.txt`: what `make demo` and `make test` install, pinned, with hashes, for every Python.

    python tools/lock.py             # add what pyproject.toml has and the lock has not
    python tools/lock.py --upgrade   # the newest of everything: make lock

No index is named in it. torch is left out, because its builds for the CPU and for GPUs have hashes of their own;
its version stands in `tools/torch_wheel.py`, and what it depends on is in the lock.
"""

from __future__ import annotations

import os
import subprocess
import sys

from install import GROUPS, LOCK, ROOT, ensure_uv
from torch_wheel import TORCH, uv_settings

OLDEST = "3.10"
ALSO = ("hatchling>=1.26,<2", "editables>=0.5")
"""What the build backend needs to install the project in place."""
OURS = ("openral", "ros2-embedded", "torch")


def main() -> int:
    """Resolve for all supported Pythons and platforms at once; uv's exit status."""
    uv = ensure_uv(sys.executable, LOCK.read_text()) if LOCK.exists() else "uv"
    wanted = [f"-e {project}" for group in ("runtime", "dev") for project in GROUPS[group]]
    command = [uv, "pip", "compile", "-", "--quiet", "--universal", "--generate-hashes", "--no-annotate"]
    command += ["--python-version", OLDEST, "--custom-compile-command", "make lock"]
    command += [word for name in OURS for word in ("--no-emit-package", name)]
    command += ["--output-file", str(LOCK), *sys.argv[1:]]
    # A folder of wheels on this machine would hide what the package index has for other Pythons.
    environ = {**os.environ, **uv_settings(os.environ)}
    environ.pop("UV_FIND_LINKS", None)
    environ.pop("UV_TORCH_BACKEND", None)
    text = "\n".join([*wanted, *ALSO, TORCH]) + "\n"
    LOCK.parent.mkdir(exist_ok=True)
    return subprocess.run(command, input=text, text=True, env=environ, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
