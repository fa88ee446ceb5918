"""How programs get a node to ask the graph with: the daemon of the process when it runs, else one of their
own."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .daemon import METHODS, DaemonNode, is_daemon_running, spawn_daemon
from .direct import DirectNode
from .direct import add_arguments as add_direct_node_arguments

if TYPE_CHECKING:
    from rclpy.executors import Executor


class NodeStrategy:
    """A node to ask, used in a `with` statement; its attributes are those of the node.

    Args:
        args: parsed arguments: those of `DirectNode`, and `no_daemon`; each may be missing.
        node_name: name of the node when it is not the daemon's.
    """

    def __init__(self, args: Any, *, node_name: str | None = None) -> None:
        """Ask the daemon of this process if it runs; else make a node, and let the daemon start."""
        self._args = args
        self._node_name = node_name
        self._daemon_node: DaemonNode | None = None
        self._direct_node: DirectNode | None = None
        use_daemon = not getattr(args, "no_daemon", False)
        if use_daemon and is_daemon_running(args):
            self._daemon_node = DaemonNode(args)
        else:
            if use_daemon:
                spawn_daemon(args)
            self._direct_node = DirectNode(args, node_name=node_name)

    @property
    def daemon_node(self) -> DaemonNode | None:
        """The daemon that is asked, None when it did not run."""
        return self._daemon_node

    @property
    def direct_node(self) -> DirectNode:
        """A node of this process, made when it is first wanted."""
        if self._direct_node is None:
            self._direct_node = DirectNode(self._args, node_name=self._node_name)
        return self._direct_node

    @property
    def node(self) -> Any:
        """The `rclpy.node.Node` of the direct node."""
        return self.direct_node.node

    @property
    def executor(self) -> Executor | None:
        """The executor that spins the node, which `rclpy.spin_until_future_complete` sets."""
        return self.direct_node.executor

    @executor.setter
    def executor(self, executor: Executor | None) -> None:
        self.direct_node.executor = executor

    def __enter__(self) -> NodeStrategy:
        """Use it."""
        return self

    def __getattr__(self, name: str) -> Any:
        """What the daemon answers, else what the direct node has."""
        if name in ("_args", "_daemon_node", "_direct_node", "_node_name") or name.startswith("__"):
            raise AttributeError(name)
        if self._daemon_node is not None and name in METHODS:
            return getattr(self._daemon_node, name)
        return getattr(self.direct_node, name)

    def __exit__(self, *_: object) -> None:
        """End the direct node; the daemon goes on."""
        if self._direct_node is not None:
            self._direct_node.__exit__()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `DirectNode`, and `--no-daemon`."""
    add_direct_node_arguments(parser)
    parser.add_argument("--no-daemon", action="store_true", help="always make a node of its own")
