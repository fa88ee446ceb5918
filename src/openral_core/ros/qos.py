"""Quality of service by topic, for publishers and subscribers alike."""

from __future__ import annotations

from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

MAX_SKILLS = 64
"""Skills of one deployment that its nodes keep track of."""


def latched(depth: int) -> QoSProfile:
    """Return a reliable profile whose newest `depth` messages are also sent to late subscribers."""
    return QoSProfile(
        depth=depth,
        reliability=QoSReliabilityPolicy.RELIABLE,
        durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
    )


def best_effort(depth: int) -> QoSProfile:
    """Return a profile that drops messages rather than repeating them; `depth` may wait at the subscriber."""
    return QoSProfile(depth=depth, reliability=QoSReliabilityPolicy.BEST_EFFORT)


LATCHED = latched(1)
"""A state of which a late subscriber gets the newest: `mission`, `estop_state`, `/robot_description` and the like."""
SKILLS = latched(MAX_SKILLS)
"""Subscribers of `skills`: each node publishes the newest message of each of its skills."""
MISSION_LOG = latched(256)
"""`mission_log`: a late subscriber gets the last 256 steps."""
STATIC_FRAMES = latched(10)
"""Subscribers of `/tf_static`: each node publishes the newest message of its frames."""
NEWEST = best_effort(1)
"""Sensor streams of which the newest message counts alone: images, camera models, `/clock`, signs of life."""
STATE = QoSProfile(depth=10, reliability=QoSReliabilityPolicy.RELIABLE)
"""Streams of which every message counts: `action_chunk`, and a policy's robot states."""
