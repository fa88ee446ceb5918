"""Information about a publisher or a subscription in the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from rclpy.passed_on import pass_on
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.type_hash import TypeHash
from ros2_embedded.wire.tokens import EndpointRecord


class TopicEndpointTypeEnum(IntEnum):
    """Publisher or subscription."""

    INVALID = 0
    PUBLISHER = 1
    SUBSCRIPTION = 2


def _unknown_profile() -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.UNKNOWN,
        depth=0,
        reliability=ReliabilityPolicy.UNKNOWN,
        durability=DurabilityPolicy.UNKNOWN,
        liveliness=LivelinessPolicy.UNKNOWN,
    )


@dataclass
class TopicEndpointInfo:
    """An endpoint: its node, type, GID (16 bytes as integers) and profile."""

    node_name: str = ""
    node_namespace: str = ""
    topic_type: str = ""
    topic_type_hash: TypeHash = field(default_factory=TypeHash)
    endpoint_type: TopicEndpointTypeEnum = TopicEndpointTypeEnum.INVALID
    endpoint_gid: list[int] = field(default_factory=list)
    qos_profile: QoSProfile = field(default_factory=_unknown_profile)

    @classmethod
    def from_record(cls, record: EndpointRecord, kind: TopicEndpointTypeEnum) -> TopicEndpointInfo:
        """The information of a record of the graph cache."""
        return cls(
            record.node.name,
            record.node.namespace,
            record.type_name,
            TypeHash.from_text(record.type_hash),
            kind,
            list(record.gid),
            QoSProfile.from_wire(record.qos),
        )

    def __str__(self) -> str:
        """As `ros2 topic info --verbose` prints it."""
        qos = self.qos_profile
        keeps_last = qos.history == HistoryPolicy.KEEP_LAST
        return "\n".join(
            [
                f"Node name: {self.node_name}",
                f"Node namespace: {self.node_namespace}",
                f"Topic type: {self.topic_type}",
                f"Topic type hash: {self.topic_type_hash}",
                f"Endpoint type: {self.endpoint_type.name}",
                f"GID: {'.'.join(f'{byte:02x}' for byte in self.endpoint_gid)}",
                "QoS profile:",
                f"  Reliability: {qos.reliability.name}",
                f"  History (Depth): {qos.history.name}" + (f" ({qos.depth})" if keeps_last else ""),
                f"  Durability: {qos.durability.name}",
                f"  Lifespan: {qos.lifespan}",
                f"  Deadline: {qos.deadline}",
                f"  Liveliness: {qos.liveliness.name}",
                f"  Liveliness lease duration: {qos.liveliness_lease_duration}",
            ]
        )


pass_on(__name__)
