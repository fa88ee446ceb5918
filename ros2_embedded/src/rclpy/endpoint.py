"""How publishers, subscriptions, services and clients appear on the network: key, token and GID."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rclpy.exceptions import NoTypeSupportImportedException
from ros2_embedded.rosidl.type_hash import announced_hash
from ros2_embedded.wire.keys import data_key, dds_type, gid_of
from ros2_embedded.wire.qos_text import WireQoS
from ros2_embedded.wire.tokens import endpoint_token

if TYPE_CHECKING:
    from rclpy.node import Node


def check_is_interface(interface: Any, kinds: tuple[str, ...]) -> str:
    """The full name of a message (`msg`), service (`srv`) or action class.

    Raises:
        NoTypeSupportImportedException: the class is something else.
    """
    name = getattr(interface, "_TYPE_NAME", "")
    is_namespace = hasattr(interface, "Request") or hasattr(interface, "Goal")
    if not name or is_namespace != ("msg" not in kinds):
        raise NoTypeSupportImportedException(
            f"{interface!r} is no ROS {' or '.join(kinds)} class; use: from pkg.{kinds[0]} import Name"
        )
    return str(name)


class Endpoint:
    """An announced endpoint of a node."""

    def __init__(self, node: Node, kind: str, name: str, interface: str, qos: WireQoS) -> None:
        """Work out key and GID; nothing is announced yet.

        Args:
            node: the owner.
            kind: one of the endpoint kinds of `ros2_embedded.wire.tokens`.
            name: fully qualified topic or service name.
            interface: message or service name, e.g. `std_msgs/msg/String`.
            qos: profile to announce.
        """
        session = node.context.session
        self.session = session
        self.name = name
        hash_, dds = announced_hash(interface), dds_type(interface)
        self.key = data_key(session.domain, name, dds, hash_)
        self._token = endpoint_token(
            session.domain,
            session.id,
            node._rclpy_entity_id,
            session.next_id(),
            kind,
            (node.get_namespace(), node.get_name()),
            (name, dds, hash_),
            qos,
            node.context.arguments.enclave,
        )
        self.gid = gid_of(self._token)
        self._withdraw: Any = None

    def announce(self) -> None:
        """Declare the liveliness token; do this after the endpoint can be used."""
        self._withdraw = self.session.announce(self._token)

    def withdraw(self) -> None:
        """Take the token back."""
        if self._withdraw is not None:
            self._withdraw()
            self._withdraw = None
