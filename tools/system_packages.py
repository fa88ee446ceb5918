"""Install by apt what pip cannot bring: OpenGL for headless rendering, and the programs that tests meet.

    python3 tools/system_packages.py runtime
    python3 tools/system_packages.py tests

Run by `make`, the first time before the virtual environment exists, so it uses the standard library alone. Without
the packages of `runtime` nothing renders: if they cannot be installed, it says what to type and fails. Without
those of `tests` the tests that need them skip with the reason.
"""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

LIMIT_S = 600
"""How long apt may take, in seconds; a lock that somebody else holds must not stop a test run for ever."""


def has_library(name: str) -> bool:
    """Whether the dynamic linker finds a library."""
    return ctypes.util.find_library(name) is not None


def has_venv() -> bool:
    """Whether this Python can make virtual environments; Debian splits that off."""
    found = subprocess.run([sys.executable, "-c", "import ensurepip"], capture_output=True, check=False)
    return found.returncode == 0


class Need(NamedTuple):
    """What a machine may lack: what it is, how one knows that it is there, and Debian's packages that bring it."""

    what: str
    is_there: Callable[[], bool]
    packages: tuple[str, ...]


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ROS1 = ("python3-roslaunch", "python3-rospy", "python3-rostopic", "python3-sensor-msgs")
NEEDS = {
    "runtime": (
        Need("OpenGL", lambda: has_library("EGL"), ("libegl1", "libgl1", "libgl1-mesa-dri")),
        Need("Python's venv", has_venv, ("python3-venv",)),
    ),
    "tests": (
        Need("a browser", lambda: any(map(shutil.which, BROWSERS)), ("chromium",)),
        Need("ROS 1", lambda: all(map(shutil.which, ("roscore", "rostopic"))), ROS1),
        Need("OSMesa", lambda: has_library("OSMesa"), ("libosmesa6",)),
        Need("network namespaces", lambda: shutil.which("ip") is not None, ("iproute2",)),
    ),
}


def missing(group: str) -> list[Need]:
    """Return the needs of a group that this machine does not meet."""
    return [need for need in NEEDS[group] if not need.is_there()]


def apt_get(*words: str) -> None:
    """Run apt-get as root, or through sudo where it asks for no password; what comes of it is looked at afterwards."""
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if prefix and not shutil.which("sudo"):
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "DEBCONF_NOWARNINGS": "yes"}
    lock = f"DPkg::Lock::Timeout={LIMIT_S // 2}"
    command = [*prefix, "apt-get", "-qq", "-o", lock, *words]
    try:
        subprocess.run(
            command,
            env=environment,
            check=False,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"openral: apt-get {words[0]} took more than {LIMIT_S} s and was ended\n")


def main() -> int:
    """Install what is missing of the group that the command line names; 1 if `runtime` is still not whole."""
    if len(sys.argv) != 2 or sys.argv[1] not in NEEDS:
        sys.stderr.write(f"usage: system_packages.py {'|'.join(NEEDS)}\n")
        return 2
    group = sys.argv[1]
    needs = missing(group)
    if sys.platform != "linux" or not needs:
        return 0
    if shutil.which("apt-get"):
        sys.stdout.write(f"openral: installing by apt: {', '.join(need.what for need in needs)}\n")
        sys.stdout.flush()
        apt_get("update")
        for (
            need
        ) in needs:  # one after another: a package that this release does not have must not keep others away
            apt_get("install", "-y", "--no-install-recommends", *need.packages)
    needs = missing(group)
    if not needs:
        return 0
    packages = " ".join(package for need in needs for package in need.packages)
    lacking = ", ".join(need.what for need in needs)
    if group == "tests":
        sys.stderr.write(
            f"openral: tests of {lacking} will skip. To run them: sudo apt-get install {packages}\n"
        )
        return 0
    sys.stderr.write(f"openral needs {lacking}. Type: sudo apt-get install {packages}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
