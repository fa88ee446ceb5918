"""Which actions the graph holds, told from their feedback topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rclpy.node_graph import NamesAndTypes
from rclpy.passed_on import pass_on

if TYPE_CHECKING:
    from rclpy.node import Node

_TOPIC, _TYPE = "/_action/feedback", "_FeedbackMessage"


def _actions(topics: NamesAndTypes) -> NamesAndTypes:
    return [
        (name.removesuffix(_TOPIC), [kind.removesuffix(_TYPE) for kind in kinds])
        for name, kinds in topics
        if name.endswith(_TOPIC)
    ]


def get_action_names_and_types(node: Node) -> NamesAndTypes:
    """All actions and their types."""
    return _actions(node.get_topic_names_and_types())


def get_action_server_names_and_types_by_node(
    node: Node, remote_node_name: str, remote_node_namespace: str
) -> NamesAndTypes:
    """The actions a node serves."""
    return _actions(node.get_publisher_names_and_types_by_node(remote_node_name, remote_node_namespace))


def get_action_client_names_and_types_by_node(
    node: Node, remote_node_name: str, remote_node_namespace: str
) -> NamesAndTypes:
    """The actions a node has clients of."""
    return _actions(node.get_subscriber_names_and_types_by_node(remote_node_name, remote_node_namespace))


pass_on(__name__)
