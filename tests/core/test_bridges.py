"""Whether a bridge moves an arm in a namespace: the graph may be told of it a while after a node was made."""

from __future__ import annotations

import threading
import time

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from openral_core.ros.bridge_conflict import is_taken


@pytest.fixture
def late():
    """Start a bridge in a namespace half a second after it is asked for, as the graph may know one so late."""
    context, nodes, threads = Context(), [], []
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)

    def start(name: str, namespace: str) -> None:
        def appear() -> None:
            time.sleep(0.5)
            nodes.append(Node(name, namespace=namespace, context=context, enable_rosout=False))

        threads.append(threading.Thread(target=appear))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize("name", ["sim_bridge", "robot_bridge"])
def test_a_bridge_that_the_graph_knows_late_is_seen(late, name):
    late(name, "/late_arm")
    assert is_taken("/late_arm")


@pytest.mark.parametrize(("name", "namespace"), [("sim_bridge", "/other_arm"), ("reasoner", "/late_arm")])
def test_a_bridge_elsewhere_and_another_node_take_nothing(late, name, namespace):
    late(name, namespace)
    assert not is_taken("/late_arm")
