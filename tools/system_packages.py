"""Make sure that a headless machine can render: EGL by apt where it is missing, or the line to type.

Run by `make` before the virtual environment exists, so it uses the standard library alone.
"""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
import sys

PACKAGES = ("libegl1", "libgl1", "libgl1-mesa-dri", "python3-venv")


def missing() -> bool:
    """Whether the EGL loader or the venv module is not there."""
    no_venv = subprocess.run(
        [sys.executable, "-c", "import ensurepip"], capture_output=True, check=False
    ).returncode
    return ctypes.util.find_library("EGL") is None or no_venv != 0


def main() -> int:
    """Install what is missing, as root or through sudo without a prompt; else say what to type."""
    if sys.platform != "linux" or not missing():
        return 0
    install = ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES]
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if shutil.which("apt-get") and (not prefix or shutil.which("sudo")):
        sys.stdout.write("openral: installing OpenGL libraries for headless rendering\n")
        sys.stdout.flush()
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update", "-qq"], [*install, "-qq"]):
            subprocess.run([*prefix, *command], env=environment, check=False, stdout=subprocess.DEVNULL)
    if missing():
        sys.stderr.write(f"openral needs EGL and python3-venv. Type: sudo {' '.join(install)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
