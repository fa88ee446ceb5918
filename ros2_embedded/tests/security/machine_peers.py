"""What runs on a robot's machine and on an operator's: `machine_peers.py robot [WIDTH]`, `… operator [jpeg]`.

The robot's latched `/arm/state` is what its standard input says; beside it `/arm/tick`, which counts, and
pictures of that width at 20 Hz, raw and as 40 kB that stand for JPEG, and the service `/arm/stop`. The
operator says on standard output what it hears, a line of JSON each; its pictures are the JPEG if that is
asked for. For each line of standard input it waits until the graph shows the service, and calls it.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from typing import Any

from sensor_msgs.msg import CompressedImage, Image
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
    jpeg = node.create_publisher(CompressedImage, "image_raw/compressed", NEWEST)
    packed = CompressedImage(format="jpeg", data=bytes(40_000))
    count = itertools.count()
    width = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    height = 3 * width // 4
    image = Image(width=width, height=height, step=3 * width, encoding="rgb8", data=bytes(3 * width * height))

    def every() -> None:
        tick.publish(String(data=str(next(count))))
        picture.publish(image)
        jpeg.publish(packed)

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
    node.create_subscription(String, "tick", lambda message: say(tick=int(message.data)), 1000)
    if sys.argv[2:] == ["jpeg"]:
        kind, topic = CompressedImage, "image_raw/compressed"
    else:
        kind, topic = Image, "image_raw"
    node.create_subscription(kind, topic, lambda message: say(image=len(message.data)), NEWEST)
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
