"""A peer made with zenoh-ros2-sdk, an independent implementation of the same wire: `sdk_peer.py <role>`.

It prints `ready`, then what it receives, one JSON text a line; a line on its input makes it end.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import Any

from zenoh_ros2_sdk import (
    ROS2Publisher,
    ROS2ServiceClient,
    ROS2ServiceServer,
    ROS2Subscriber,
    get_message_class,
    get_registry,
    get_service_info,
    get_service_names_and_types,
    get_topic_info,
    get_topic_names_and_types,
)
from zenoh_ros2_sdk.qos import QosDurability, QosProfile

from ros2_embedded.packages import BUNDLED

ADD = "example_interfaces/srv/AddTwoInts"
DOMAIN = int(os.environ["ROS_DOMAIN_ID"])


def say(value: Any) -> None:
    """Tell the test."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _is_published(topic: str) -> bool:
    found: Any = get_topic_info(topic, domain_id=DOMAIN, verbose=True)
    return found is not None and bool(found.publishers)


def listen(latched: bool) -> list[Any]:
    """Subscribe to text and images."""
    qos = QosProfile(durability=QosDurability.TRANSIENT_LOCAL) if latched else None
    topic = "/latched" if latched else "/ours/text"
    while latched and not _is_published(topic):  # the SDK asks for history once, when it subscribes
        time.sleep(0.05)
    return [
        ROS2Subscriber(topic, "std_msgs/msg/String", lambda m: say(m.data), domain_id=DOMAIN, qos=qos),
        ROS2Subscriber(
            "/ours/image",
            "sensor_msgs/msg/Image",
            lambda m: say([m.header.frame_id, m.height, m.width, int(m.data.sum())]),
            domain_id=DOMAIN,
        ),
    ]


def talk() -> None:
    """Publish until the process is ended."""
    text = ROS2Publisher("/theirs/text", "std_msgs/msg/String", domain_id=DOMAIN, node_name="sdk_talker")
    count = 0
    while True:
        text.publish(data=f"text {count}")
        count += 1
        time.sleep(0.05)


def serve() -> ROS2ServiceServer:
    """Answer additions."""
    response: Any = get_message_class("example_interfaces/srv/AddTwoInts_Response")

    def add(request: Any) -> Any:
        return response(sum=request.a + request.b)

    return ROS2ServiceServer("/theirs/add", ADD, add, domain_id=DOMAIN)


def call() -> None:
    """Call our service until it answers."""
    client = ROS2ServiceClient("/ours/add", ADD, domain_id=DOMAIN, timeout=2.0)
    answer = None
    while answer is None:
        answer = client.call(a=40, b=2)
    say(answer.sum)


def look() -> None:
    """Tell what the graph shows of our endpoints."""
    found: Any = None
    while found is None or not found.publishers:
        found = get_topic_info("/ours/text", domain_id=DOMAIN, verbose=True)
    publisher = found.publishers[0]
    say(
        {
            "types": dict(get_topic_names_and_types(domain_id=DOMAIN)).get("/ours/text"),
            "node": [publisher.node_namespace, publisher.node_name],
            "hash": publisher.type_hash,
            "qos": publisher.qos,
            "services": dict(get_service_names_and_types(domain_id=DOMAIN)).get("/ours/add"),
            "servers": get_service_info("/ours/add", domain_id=DOMAIN).server_count,  # type: ignore[union-attr]
        }
    )


def main() -> None:
    """Run a role."""
    logging.disable(logging.INFO)
    get_registry(str(BUNDLED))
    role = sys.argv[1]
    kept: Any = None
    if role in ("listen", "latched"):
        kept = listen(role == "latched")
    elif role == "serve":
        kept = serve()
    say("ready")
    if role == "talk":
        talk()
    elif role in ("call", "look"):
        {"call": call, "look": look}[role]()
    sys.stdin.readline()
    say(f"end of {type(kept).__name__}")
    os._exit(0)  # its threads are no daemons and would keep the process


if __name__ == "__main__":
    main()
