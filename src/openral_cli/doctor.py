"""Checks of what openral needs on a machine; a failed check has the command that fixes it."""

from __future__ import annotations

import importlib.util
import itertools
import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from openral_core.doctor_check import Check
from openral_core.errors import OpenralError
from openral_core.manifest.runtime import LOCAL
from openral_core.plugin_table import load_plugin, plugin_targets
from openral_rskill.registry import RSkillPackage, load_package
from openral_rskill.store.store_folders import skill_folders

MIN_FREE_GB = 2.0
"""[GB] least free disk space: for torch (CPU), a run's video and a data set of demonstrations."""
_FIRST, _LAST = (3, 10), (3, 13)
GROUP = "openral.checks"
"""Entry-point group of functions without arguments that return a list of Check."""
BUILT_IN = {
    "libero": "openral_sim_bridge.backends.libero.health:checks",
    "rendering": "openral_sim_bridge.rendering.opengl_health:checks",
}
"""Name -> `module:function`, for checks of optional parts."""


def examine() -> list[Check]:
    """Run every check. It takes some seconds, since rendering is tried in a process of its own."""
    checks: list[Callable[[], Check]] = [
        _python,
        _ros,
        _simulator,
        _torch,
        _disk,
        _loopback,
        _node_sockets,
    ]
    parts = itertools.chain(*(_part(name) for name in sorted(plugin_targets(GROUP, BUILT_IN))))
    return [*(check() for check in checks), *parts, *_skills()]


def _part(name: str) -> list[Check]:
    """Return the checks of an optional part; if they cannot be loaded, a failed one."""
    try:
        checks: list[Check] = load_plugin(GROUP, BUILT_IN, name)()
        return checks
    except OpenralError as error:
        return [Check(name, False, str(error), f"pip install --force-reinstall what brings {name}")]


def _row(name: str, ok: bool, found: str, fix: str) -> Check:
    return Check(name, ok, found, "" if ok else fix)


def _python() -> Check:
    ok = _FIRST <= sys.version_info[:2] <= _LAST
    return _row("python", ok, platform.python_version(), "make PYTHON=python3.11")


def _ros() -> Check:
    spec = importlib.util.find_spec("rclpy")
    if spec is None or spec.origin is None:
        return Check(
            "ros runtime", False, "none", "pip install ros2-embedded, or source /opt/ros/<distro>/setup.bash"
        )
    embedded = importlib.util.find_spec("ros2_embedded")
    beside = embedded is not None and embedded.origin is not None
    if beside and Path(spec.origin).parents[1] == Path(str(embedded and embedded.origin)).parents[1]:
        return Check("ros runtime", True, "ros2_embedded")
    return Check(
        "ros runtime", True, f"ROS 2 {os.environ.get('ROS_DISTRO', '')} ({Path(spec.origin).parent})"
    )


def _package(name: str, distribution: str, extra: str) -> Check:
    try:
        return Check(name, True, f"{distribution} {version(distribution)}")
    except PackageNotFoundError:
        return Check(name, False, "not installed", f"pip install 'openral[{extra}]'")


def _simulator() -> Check:
    return _package("simulator", "metaworld", "sim")


def _torch() -> Check:
    return _package("torch", "torch", "models")


def _disk() -> Check:
    try:
        free = shutil.disk_usage(Path.cwd()).free / 1e9
    except FileNotFoundError:
        return Check("disk", False, "the folder that it was called in is gone", "cd to one that is there")
    return _row("disk", free >= MIN_FREE_GB, f"{free:.1f} GB free here", "df -h . and free some space")


def _loopback() -> Check:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(2.0)
            with socket.create_connection(server.getsockname(), timeout=2.0):
                server.accept()[0].close()
    except OSError as error:
        return Check("loopback", False, str(error), "sudo ip link set lo up")
    return Check("loopback", True, "127.0.0.1")


def _node_sockets() -> Check:
    """Check the folder of Unix sockets by which nodes of the embedded runtime connect; only the user may access it."""
    from ros2_embedded.local_links import LocalLinkError, private_folder
    from ros2_embedded.session_config import SessionConfigError, discovery_range, domain_id

    try:
        folder = private_folder(domain_id())
        discovery_range(os.environ)
    except LocalLinkError as error:
        return Check("node sockets", False, str(error), "see what lies there, and remove it")
    except SessionConfigError as error:
        what, _, fix = str(error).partition("; ")
        return Check("node sockets", False, what, fix)
    return Check("node sockets", True, str(folder))


def _skills() -> list[Check]:
    checks = []
    for folder in skill_folders():
        name = f"skill {folder.name}"
        try:
            package = load_package(folder)
            if (package.manifest.weights_uri or "").startswith(LOCAL):
                package.checkpoint()
            found = f"{package.manifest.kind}, {package.manifest.license}{_far(package)}"
        except OpenralError as error:
            checks.append(
                Check(
                    name,
                    False,
                    str(error).splitlines()[0].removeprefix(f"{folder}/"),
                    f"openral rskill check {folder}",
                )
            )
        else:
            checks.append(Check(name, True, found))
    return checks or [Check("skills", False, "none", "put a folder with an rskill.yaml below rskills/")]


def _far(package: RSkillPackage) -> str:
    """Return, in words, whether weights of a hub are installed, which is not required; empty for local weights."""
    if (package.manifest.weights_uri or LOCAL).startswith(LOCAL):
        return ""
    return ", weights installed" if package.locked_weights() else ", weights on the hub"
