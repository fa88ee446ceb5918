"""How long a camera image takes from `publish` in one process to the callback in another."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from image_sender import KEY, SIDE, TOPIC
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from ros2_embedded.session import RosSession, direct
from sensor_msgs.msg import Image
from system_stack import next_domain, wait_for

COUNT = 100
BAR_MS = 2.0
MOST_OVER_RAW = 4.0
"""p50 in units of raw Zenoh's; the rest is CDR, the wait set and the executor, all in Python."""


def run_sender(how: str, domain: int, latencies_ms: list[float]) -> None:
    """Let the other process send until enough images have come."""
    program = str(Path(__file__).with_name("image_sender.py"))
    sender = subprocess.Popen([sys.executable, program, how, str(domain), str(COUNT)])
    try:
        wait_for(lambda: sender.poll() is not None, f"the sender with {how}")
    finally:
        sender.kill()
        sender.wait()
    assert len(latencies_ms) >= 0.8 * COUNT, f"{how}: only {len(latencies_ms)} of {COUNT} images came"


def measure_zenoh() -> np.ndarray:
    latencies: list[float] = []
    domain = next_domain()
    session = RosSession(domain)

    def on_sample(sample: object) -> None:
        data = sample.payload.to_bytes()
        latencies.append((time.monotonic_ns() - int.from_bytes(data[:8], "little")) * 1e-6)

    session.zenoh.declare_subscriber(f"{KEY}/{domain}", direct(on_sample))
    run_sender("zenoh", domain, latencies)
    session.close()
    return np.array(latencies[10:])


def measure_rclpy() -> np.ndarray:
    latencies: list[float] = []
    context = rclpy.Context()
    context.init(domain_id=next_domain())
    node = rclpy.create_node("receiver", context=context)

    def on_image(image: object) -> None:
        stamp = image.header.stamp
        assert len(image.data) == 3 * SIDE * SIDE
        latencies.append((time.monotonic_ns() - stamp.sec * 10**9 - stamp.nanosec) * 1e-6)

    best_effort = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(Image, TOPIC, on_image, best_effort)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    run_sender("rclpy", context.get_domain_id(), latencies)
    executor.shutdown()
    thread.join()
    context.try_shutdown()
    return np.array(latencies[10:])


def test_image_from_publish_to_callback(report):
    raw, ours = measure_zenoh(), measure_rclpy()
    (raw50, raw95), (ours50, ours95) = (np.percentile(times, [50, 95]) for times in (raw, ours))
    report(
        f"image {SIDE}x{SIDE} publish -> callback, two processes",
        f"p50 {ours50:.2f} ms, p95 {ours95:.2f} ms",
        f"raw zenoh p50 {raw50:.2f} ms, p95 {raw95:.2f} ms",
        f"p50 {BAR_MS:g} ms; {MOST_OVER_RAW:g} x raw",
    )
    assert ours50 <= MOST_OVER_RAW * raw50
