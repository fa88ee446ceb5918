"""A node of a program that uses the command line's functions."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from . import NODE_NAME_PREFIX, settle

if TYPE_CHECKING:
    from rclpy.executors import Executor
    from rclpy.node import Node

DEFAULT_TIMEOUT = 0.5
"""The spin time [s] that stands for "until the graph is quiet", the default of `--spin-time`."""


class DirectNode:
    """A node used in a `with` statement; its attributes are those of the node.

    Its context is the default one, so that `rclpy.ok()` and `rclpy.spin_once` are about it; where that is in
    use already, it is one of its own.

    Args:
        args: parsed arguments: `spin_time` [s], `use_sim_time`, `argv`; each may be missing.
        node_name: name of the node, hidden and made of the process id without one.
        own_context: leave the default context alone in any case.
    """

    def __init__(self, args: Any, *, node_name: str | None = None, own_context: bool = False) -> None:
        """Make the node and let it see the graph."""
        import rclpy
        from rclpy.context import Context
        from rclpy.node import Node
        from rclpy.parameter import Parameter
        from rclpy.signals import SignalHandlerOptions

        # Signals stay Python's: Ctrl-C is a KeyboardInterrupt, which ends every verb in the same way.
        self._context = rclpy.init(
            args=list(getattr(args, "argv", None) or []),
            context=Context() if own_context or rclpy.ok() else None,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        sim_time = Parameter("use_sim_time", value=bool(getattr(args, "use_sim_time", False)))
        self.node: Node = Node(
            node_name or f"{NODE_NAME_PREFIX}_{os.getpid()}_{id(self):x}",
            context=self._context,
            start_parameter_services=False,
            enable_rosout=False,
            parameter_overrides=[sim_time],
        )
        spin_time = getattr(args, "spin_time", None)
        if spin_time and spin_time != DEFAULT_TIMEOUT:
            time.sleep(spin_time)
        else:
            settle(self.node)

    @property
    def executor(self) -> Executor | None:
        """The executor that spins the node, which `rclpy.spin_until_future_complete` sets."""
        return self.node.executor

    @executor.setter
    def executor(self, executor: Executor | None) -> None:
        self.node._rclpy_set_executor(executor)  # which has this object among its nodes already

    def __enter__(self) -> DirectNode:
        """Use it."""
        return self

    def __getattr__(self, name: str) -> Any:
        """What the node has."""
        if name in ("node", "_context"):
            raise AttributeError(name)
        return getattr(self.node, name)

    def __exit__(self, *_: object) -> None:
        """Destroy the node and end its context."""
        self.node.destroy_node()
        self._context.try_shutdown()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--spin-time` and `--use-sim-time`."""
    parser.add_argument(
        "--spin-time",
        type=float,
        default=DEFAULT_TIMEOUT,
        help="how long to look at the graph [s]; by default until it is quiet",
    )
    parser.add_argument("-s", "--use-sim-time", action="store_true", help="follow /clock")
