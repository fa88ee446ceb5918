"""Programs that end in every way: `python exits.py KIND`; prints `ready` when the end may come.

`KINDS` says for each which signal the test sends and the exit codes it may see.
"""

from __future__ import annotations

import signal
import sys
import threading
import time

from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

KINDS: dict[str, tuple[signal.Signals | None, set[int]]] = {
    "shutdown": (None, {0}),
    "no_shutdown": (None, {0}),
    "callback_raises": (None, {1}),
    "coroutine_raises": (None, {1}),
    "threaded_callback_raises": (None, {1}),
    "callback_exits": (None, {3}),
    "daemon_spins": (None, {0}),
    "daemon_shuts_down": (None, {0}),
    "terminated": (signal.SIGTERM, {0}),
    "terminated_in_callback": (signal.SIGTERM, {0}),
    "terminated_in_traffic": (signal.SIGTERM, {0}),
    # `spin` raises when it is waiting, and returns when it is in a callback, as in rclpy.
    "terminated_uncaught": (signal.SIGTERM, {0, 1}),
    "interrupted": (signal.SIGINT, {0}),
    "interrupted_uncaught": (signal.SIGINT, {-signal.SIGINT}),
}


def say_ready() -> None:
    """Tell the test."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def fail() -> None:
    """A callback with a mistake."""
    raise ValueError("a mistake in the callback")


async def fail_later() -> None:
    """A coroutine with a mistake."""
    raise ValueError("a mistake in the coroutine")


def make_traffic(node: Node) -> None:
    """Messages, requests and answers without a pause, also while the process ends."""
    publisher = node.create_publisher(String, "busy", 10)
    node.create_subscription(String, "busy", lambda _: None, 10)
    node.create_service(Trigger, "busy", lambda _, response: response)
    client = node.create_client(Trigger, "busy")

    def work() -> None:
        publisher.publish(String(data="x" * 100))
        client.call_async(Trigger.Request())

    node.create_timer(0.001, work)


def end(kind: str, node: Node) -> None:
    """Do what ends a program of the kinds that get no signal."""
    if kind == "shutdown":
        done: Future[int] = Future()
        node.create_timer(0.001, lambda: done.set_result(1))
        rclpy.spin_until_future_complete(node, done)
        rclpy.shutdown()
    elif kind.endswith("_raises"):
        node.create_timer(0.001, fail_later if kind == "coroutine_raises" else fail)
        rclpy.spin(node, MultiThreadedExecutor(2) if kind.startswith("threaded") else None)
    elif kind == "callback_exits":
        node.create_timer(0.001, lambda: sys.exit(3))
        rclpy.spin(node)
    elif kind == "daemon_spins":
        node.create_timer(0.001, lambda: None)
        threading.Thread(target=rclpy.spin, args=(node,), daemon=True).start()
        time.sleep(0.05)
    elif kind == "daemon_shuts_down":
        threading.Thread(target=rclpy.shutdown, daemon=True).start()


def spin_until_signal(kind: str, node: Node) -> None:
    """Spin until the signal comes."""
    if kind == "terminated_in_callback":
        node.create_timer(0.01, lambda: time.sleep(0.2))
    elif kind == "terminated_in_traffic":
        make_traffic(node)

    def announce() -> None:
        timer.cancel()
        say_ready()

    timer = node.create_timer(0.05, announce)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        if kind.endswith("_uncaught"):
            raise
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def main() -> None:
    """Run a kind."""
    kind = sys.argv[1]
    # A shell that runs the tests in the background has its children ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rclpy.init(args=[])
    node = Node("ending")
    if KINDS[kind][0] is None:
        say_ready()
        end(kind, node)
    else:
        spin_until_signal(kind, node)


if __name__ == "__main__":
    main()
