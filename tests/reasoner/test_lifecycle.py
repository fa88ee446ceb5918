"""The reasoner's life cycle, twice over, and the transitions that are not there."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import rclpy
from openral.msg import Mission
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node

from openral_reasoner.messages_node import LATCHED
from openral_reasoner.reasoner_node import ReasonerNode


@pytest.mark.parametrize(
    "word", ["OPENRAL_ACCEPT_NONCOMMERCIAL", "OPENRAL_ALLOW_NONCOMMERCIAL", "SOMETHING_ELSE"]
)
def test_accepted_terms_hold_for_the_whole_deployment(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """What the policy node may load, the reasoner may use."""
    monkeypatch.setenv(word, "1")
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = ReasonerNode()
    try:
        assert node.get_parameter("commercial").value is (word == "SOMETHING_ELSE")
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def node() -> Iterator[ReasonerNode]:
    rclpy.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = ReasonerNode()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


def test_round_trip_twice_then_shutdown(node: ReasonerNode) -> None:
    for _ in range(2):
        for step in ("configure", "activate", "deactivate", "cleanup"):
            assert getattr(node, f"trigger_{step}")() is TransitionCallbackReturn.SUCCESS, step
    assert node.trigger_shutdown() is TransitionCallbackReturn.SUCCESS


def test_idle_mission_is_latched_for_late_listeners(node: ReasonerNode) -> None:
    node.trigger_configure()
    node.trigger_activate()
    listener = Node("listener")
    heard: list[str] = []
    listener.create_subscription(
        Mission, "/openral/mission", lambda mission: heard.append(mission.state), LATCHED
    )
    for _ in range(50):
        rclpy.spin_once(listener, timeout_sec=0.1)
        if heard:
            break
    listener.destroy_node()
    assert heard == ["idle"]


def test_a_threshold_out_of_range_refuses_to_configure(node: ReasonerNode) -> None:
    node.declare_parameter("gate.success_threshold", 1.5)
    assert node.trigger_configure() is TransitionCallbackReturn.FAILURE
