"""Managed nodes: configure, activate, deactivate, clean up, shut down."""

from rclpy.lifecycle.managed_entity import ManagedEntity, SimpleManagedEntity
from rclpy.lifecycle.node import LifecycleNode, LifecycleNodeMixin
from rclpy.lifecycle.publisher import LifecyclePublisher
from rclpy.lifecycle.state_machine import LifecycleState, TransitionCallbackReturn

Node = LifecycleNode
NodeMixin = LifecycleNodeMixin
Publisher = LifecyclePublisher
State = LifecycleState

__all__ = [
    "LifecycleNode",
    "LifecycleNodeMixin",
    "LifecyclePublisher",
    "LifecycleState",
    "ManagedEntity",
    "Node",
    "NodeMixin",
    "Publisher",
    "SimpleManagedEntity",
    "State",
    "TransitionCallbackReturn",
]
