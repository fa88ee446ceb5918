"""How programs get a node to ask the graph with: here always one of their own, as there is no daemon."""

from __future__ import annotations

import argparse

from .direct import DirectNode
from .direct import add_arguments as add_direct_node_arguments


class NodeStrategy(DirectNode):
    """A `DirectNode`; where ROS 2 would ask its daemon, this asks the network."""

    @property
    def direct_node(self) -> DirectNode:
        """The node that is asked."""
        return self

    @property
    def daemon_node(self) -> None:
        """None: there is no daemon."""
        return None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `DirectNode`, and `--no-daemon`, which changes nothing."""
    add_direct_node_arguments(parser)
    parser.add_argument("--no-daemon", action="store_true", help="accepted: there is no daemon")
