"""ros2 doctor."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from ...topics import write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "-r", "--report", action="store_true", help="accepted for ROS 2's sake: all is always shown"
    )
    parser.add_argument("-rf", "--report-failed", action="store_true", help="accepted for ROS 2's sake")
    parser.add_argument("-ep", "--exclude-packages", action="store_true", help="accepted for ROS 2's sake")
    parser.add_argument("-iw", "--include-warnings", action="store_true", help="accepted for ROS 2's sake")


def main(args: argparse.Namespace) -> int:
    """Print what runs here, then one line a check with its fix; the exit code is 0 only if all checks
    pass."""
    write("".join(f"{name}: {value}\n" for name, value in _facts()) + "\n")
    failed = 0
    for name, problem in _checks():
        failed += problem is not None
        write(f"{'ok  ' if problem is None else 'FAIL'} {name}{'' if problem is None else f': {problem}'}\n")
    write("\nAll checks passed\n" if not failed else f"\n{failed} check(s) failed\n")
    return 0 if not failed else 1


def _facts() -> Iterator[tuple[str, str]]:
    rclpy = importlib.util.find_spec("rclpy")
    origin = rclpy.origin if rclpy is not None and rclpy.origin else "not found"
    embedded = str(
        Path(__file__).parents[3]
    )  # the folder that holds ros2cli, and the embedded rclpy beside it
    runtime = "embedded (ros2-embedded over Zenoh)" if origin.startswith(embedded) else f"ROS 2 ({origin})"
    yield "runtime", runtime
    yield "rclpy", origin
    for distribution in ("ros2-embedded", "eclipse-zenoh", "rosbags", "numpy"):
        yield distribution, _version(distribution)
    yield "python", f"{platform.python_version()} ({sys.executable})"
    yield "platform", platform.platform()
    yield "ROS_DOMAIN_ID", os.environ.get("ROS_DOMAIN_ID", "0 (not set)")
    yield "ROS_DISTRO", os.environ.get("ROS_DISTRO", "not set")
    yield "AMENT_PREFIX_PATH", os.environ.get("AMENT_PREFIX_PATH", "not set")
    yield "other ros2 on PATH", ", ".join(_other_commands()) or "none"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _other_commands() -> list[str]:
    own = os.path.realpath(sys.argv[0])
    folders = os.environ.get("PATH", "").split(os.pathsep)
    found = (shutil.which("ros2", path=folder) for folder in folders if folder)
    return sorted({path for path in found if path is not None and os.path.realpath(path) != own})


def _checks() -> Iterator[tuple[str, str | None]]:
    yield "loopback TCP", _check_loopback()
    yield "sockets of nodes", _check_sockets()
    yield "messages", _check_messages()
    yield "node and graph", _check_node()


def _check_loopback() -> str | None:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=1.0).close()
    except OSError as error:
        return f"{error}; bring the interface up: ip link set lo up"
    return None


def _check_sockets() -> str | None:
    """See that the folder by which nodes of this user find each other can be used."""
    from ros2_embedded.local_links import LocalLinkError, private_folder

    try:
        private_folder(int(os.environ.get("ROS_DOMAIN_ID") or 0))
    except (LocalLinkError, ValueError) as error:
        return str(error)
    return None


def _check_messages() -> str | None:
    try:
        from std_msgs.msg import String
    except ImportError as error:
        return f"{error}; reinstall ros2-embedded"
    return None if String(data="x").data == "x" else "std_msgs/msg/String does not keep its data"


def _check_node() -> str | None:
    from ...node import cli_node, wait_for
    from ...nodes import node_names

    with cli_node() as node:
        own = node.get_fully_qualified_name()
        found = wait_for(lambda: own in node_names(node))
    return None if found else "a new node does not see itself in the graph; check ZENOH_CONFIG_OVERRIDE"
