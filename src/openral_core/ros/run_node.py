"""The main function of nodes, from `rclpy.init` to the exit code of the process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from openral_core.errors import OpenralError
from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_core.process.collector import end_uncollected
from openral_core.process.stop_signals import StopSignals


def run_node(make_node: Callable[[], Any], args: list[str] | None = None, *, threads: int = 1) -> int:
    """Run a node until it is told to stop.

    Args:
        make_node: returns the node. Its method `close`, where it has one, ends what it started. One with the parameter
            `autostart` has a life cycle: where that is true, it configures and activates itself.
        args: the process's ROS arguments; None reads the command line.
        threads: how many callbacks may run at the same time.

    Returns:
        The process's exit code: 0 when it was told to stop; EXIT_UNFIT when the node cannot run here, since it could
        not be made, or a transition failed, and said why; 1 when a transition ended by a bug.
    """
    end_uncollected()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: Any = None
    executor: Executor = (
        SingleThreadedExecutor() if threads == 1 else MultiThreadedExecutor(num_threads=threads)
    )
    try:
        with StopSignals() as signals:
            node = make_node()
            executor.add_node(node)
            if node.has_parameter("autostart") and node.get_parameter("autostart").value:
                for transition in (node.trigger_configure, node.trigger_activate):
                    ended = transition()
                    if ended != TransitionCallbackReturn.SUCCESS and not signals.received:
                        return EXIT_UNFIT if ended == TransitionCallbackReturn.FAILURE else 1
            signals.spin(executor, Future())
    except OpenralError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_UNFIT
    finally:
        executor.shutdown()
        if node is not None:
            if hasattr(node, "close"):
                node.close()
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
