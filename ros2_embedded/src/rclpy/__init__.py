"""The ROS 2 client library for Python, over Zenoh: same names and behaviour as rclpy of ROS 2 Jazzy."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions, install_signal_handlers, register_context
from rclpy.task import Future
from rclpy.utilities import (
    get_default_context,
    get_rmw_implementation_identifier,
    ok,
    renew_default_context,
    try_shutdown,
)

if TYPE_CHECKING:
    from rclpy.executors import Executor, SingleThreadedExecutor
    from rclpy.node import Node
    from rclpy.parameter import Parameter

__all__ = [
    "Context",
    "Future",
    "Parameter",
    "create_node",
    "get_default_context",
    "get_global_executor",
    "get_rmw_implementation_identifier",
    "init",
    "ok",
    "shutdown",
    "spin",
    "spin_once",
    "spin_until_future_complete",
    "try_shutdown",
]


def init(
    *,
    args: list[str] | None = None,
    context: Context | None = None,
    domain_id: int | None = None,
    signal_handler_options: SignalHandlerOptions | None = None,
) -> Context:
    """Start: parse ROS arguments, open the network session, handle signals.

    Args:
        args: command line; None takes `sys.argv`.
        context: None takes the default one.
        domain_id: 0 to 232; None takes ROS_DOMAIN_ID, else 0.
        signal_handler_options: None handles SIGINT and SIGTERM for the default context, and none for others.

    Returns:
        The context, which may be used in a `with` statement.
    """
    chosen = context or renew_default_context()
    if signal_handler_options is None:
        options = SignalHandlerOptions.ALL if context is None else SignalHandlerOptions.NO
    else:
        options = signal_handler_options
    chosen.init(args, domain_id=domain_id)
    register_context(chosen)
    install_signal_handlers(options)
    return chosen


def get_global_executor() -> SingleThreadedExecutor:
    """The executor behind `spin`."""
    from rclpy import executors

    return executors.get_global_executor()


def shutdown(*, context: Context | None = None, uninstall_handlers: bool | None = None) -> None:
    """End a context and close its session.

    Args:
        context: None takes the default one.
        uninstall_handlers: None puts the former signal handlers back for the default context.

    Raises:
        RCLError, which is a RuntimeError: not initialised, or shut down before.
    """
    from rclpy.signals import uninstall_signal_handlers

    (context or get_default_context(shutting_down=True)).shutdown()
    if uninstall_handlers or (uninstall_handlers is None and context is None):
        uninstall_signal_handlers()


def create_node(node_name: str, **options: Any) -> Node:
    """Make a node; the options are those of `rclpy.node.Node`."""
    from rclpy.node import Node

    return Node(node_name, **options)


def spin_once(node: Node, *, executor: Executor | None = None, timeout_sec: float | None = None) -> None:
    """Do one piece of work of a node, waiting for it at most `timeout_sec` [s]."""
    with _spinning(node, executor) as chosen:
        chosen.spin_once(timeout_sec=timeout_sec)


def spin(node: Node, executor: Executor | None = None) -> None:
    """Work until shutdown.

    Raises:
        ExternalShutdownException: the context was shut down while waiting.
    """
    with _spinning(node, executor) as chosen:
        chosen.spin()


def spin_until_future_complete(
    node: Node, future: Future[Any], executor: Executor | None = None, timeout_sec: float | None = None
) -> None:
    """Work until a future is done, for at most `timeout_sec` [s] (None: no limit)."""
    with _spinning(node, executor) as chosen:
        chosen.spin_until_future_complete(future, timeout_sec)


@contextmanager
def _spinning(node: Node, executor: Executor | None) -> Iterator[Executor]:
    """An executor (None: the global one of the context) that has the node; it loses it only if it was new."""
    from rclpy import executors

    chosen = executor or executors.get_global_executor(node.context)
    is_new = chosen.add_node(node)
    try:
        yield chosen
    finally:
        if is_new:
            chosen.remove_node(node)


def __getattr__(name: str) -> Any:
    """Import modules of rclpy when they are used: `rclpy.qos` works after `import rclpy`, as in ROS 2."""
    if name == "Parameter":
        from rclpy.parameter import Parameter

        return Parameter
    if name == "uninstall_signal_handlers":
        from rclpy.signals import uninstall_signal_handlers

        return uninstall_signal_handlers
    if not name.startswith("_") and importlib.util.find_spec(f"rclpy.{name}") is not None:
        return importlib.import_module(f"rclpy.{name}")
    raise AttributeError(f"module 'rclpy' has no attribute {name!r}")
