"""The node of verbs and the default context of rclpy."""

from __future__ import annotations

import rclpy
from ros2cli.node.daemon import DaemonNode, shutdown_daemon, spawn_daemon
from ros2cli.node.direct import DirectNode


def test_it_is_spun_as_long_as_rclpy_is_ok() -> None:
    fired: list[int] = []
    assert not rclpy.ok()
    with DirectNode(None) as node:
        timer = node.create_timer(0.01, lambda: fired.append(1))
        while rclpy.ok() and len(fired) < 2:
            rclpy.spin_once(node, timeout_sec=10.0)  # type: ignore[arg-type]  # it stands for a node
        node.destroy_timer(timer)
    assert len(fired) == 2
    assert not rclpy.ok()
    with DirectNode(None):
        assert rclpy.ok()


def test_it_leaves_the_context_of_a_program_alone() -> None:
    with rclpy.init():
        with DirectNode(None) as node, DirectNode(None) as other:
            assert node.context is not other.context
        assert rclpy.ok()
    spawn_daemon(None)
    with DaemonNode(None) as daemon:
        assert daemon.get_topic_names_and_types() is not None
        assert not rclpy.ok()  # a program may still call rclpy.init
    shutdown_daemon(None)
