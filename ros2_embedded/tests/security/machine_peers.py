"""What runs on a robot's machine and on an operator's: `machine_peers.py robot|operator`.

The robot's latched `/arm/state` is what its standard input says; beside it `/arm/tick` and pictures at 20 Hz,
and the service `/arm/stop`. The operator says on standard output what it hears, a line of JSON each, and for
each line of standard input waits until the graph shows the service, and calls it.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def robot(node: Any) -> None:
    state = node.create_publisher(String, "state", LATCHED)
    tick = node.create_publisher(String, "tick", 10)
    picture = node.create_publisher(Image, "image_raw", NEWEST)
    image = Image(width=64, height=48, step=192, encoding="rgb8", data=bytes(64 * 48 * 3))

    def every() -> None:
        tick.publish(String(data="on"))
        picture.publish(image)

    def stop(request: Any, response: Any) -> Any:
        response.success, response.message = True, "stopped"
        return response

    def read() -> None:
        for line in sys.stdin:
            state.publish(String(data=line.strip()))

    node.create_timer(0.05, every)
    node.create_service(Trigger, "stop", stop)
    threading.Thread(target=read, daemon=True).start()


def operator(node: Any) -> None:
    def say(**told: Any) -> None:
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()

    node.create_subscription(String, "state", lambda message: say(state=message.data), LATCHED)
    node.create_subscription(String, "tick", lambda message: say(tick=message.data), 10)
    node.create_subscription(Image, "image_raw", lambda message: say(image=message.width), NEWEST)
    client = node.create_client(Trigger, "stop")

    def read() -> None:
        for _ in sys.stdin:
            client.wait_for_service()
            client.call_async(Trigger.Request()).add_done_callback(
                lambda future: say(stop=future.result().message)
            )

    threading.Thread(target=read, daemon=True).start()


rclpy.init()
node = rclpy.create_node(sys.argv[1], namespace="/arm")
{"robot": robot, "operator": operator}[sys.argv[1]](node)
rclpy.spin(node)
