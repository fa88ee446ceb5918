"""One process: how it starts, what it costs while nothing happens, timers, and messages that stay inside."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from runtime_wire import FRAME_BYTES, HEIGHT, WIDTH
from sensor_msgs.msg import Image
from system_stack import next_domain

PROGRAM = str(Path(__file__).with_name("runtime_alone.py"))
STARTS = 9
INSIDE_ROUNDS, INSIDE_COUNT = 9, 100
START_BAR_S, INSIDE_BAR_MS, IDLE_CPU_BAR, IDLE_RSS_BAR_MB = 0.4, 0.2, 0.01, 60.0


def alone(role: str) -> dict[str, float]:
    """The answer of a process of `runtime_alone.py`."""
    command = [sys.executable, PROGRAM, role, str(next_domain())]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120.0)
    return json.loads(done.stdout)


def test_start(report):
    times: dict[str, list[float]] = {"ros_start": [], "bare_start": []}
    for _ in range(STARTS):
        for role, found in times.items():
            found.append(alone(role)["seconds"])
    ros, bare = (min(found) for found in times.values())  # what is slower was disturbed by something else
    report(
        "`import rclpy` and the first node",
        f"{ros:.2f} s, the best of {STARTS}",
        f"importing Zenoh and NumPy and opening a session {bare:.2f} s",
        f"{START_BAR_S:g} s",
    )
    assert ros <= START_BAR_S


def test_idle(report):
    ros, bare = alone("ros_idle"), alone("bare_idle")
    report(
        "a node that is spun and has nothing to do",
        f"{100 * ros['cpu']:.2f} % CPU, {ros['rss_mb']:.0f} MB",
        f"bare session {100 * bare['cpu']:.2f} % CPU, {bare['rss_mb']:.0f} MB",
        f"{100 * IDLE_CPU_BAR:g} %, {IDLE_RSS_BAR_MB:g} MB",
    )
    assert ros["cpu"] <= IDLE_CPU_BAR
    assert ros["rss_mb"] <= IDLE_RSS_BAR_MB


def test_timer(report):
    found = alone("timer")
    report(
        "timer of 1000 Hz: delay of each call",
        f"p50 {found['ros_p50_us']:.0f} us, p99 {found['ros_p99_us']:.0f} us, "
        f"{found['ros_calls']:.0f} of {found['periods']:.0f} calls, drift {found['ros_drift_us']:.0f} us",
        f"time.sleep to the same times p50 {found['bare_p50_us']:.0f} us, p99 {found['bare_p99_us']:.0f} us",
        "reported",
    )
    assert found["ros_calls"] >= 0.5 * found["periods"]


def wake_up_ms() -> float:
    """What this machine takes to wake a thread that waits on a queue: the least any callback can take [ms]."""
    ask: SimpleQueue[int | None] = SimpleQueue()
    times: list[int] = []
    done = threading.Semaphore(0)

    def serve() -> None:
        while (begin := ask.get()) is not None:
            times.append(time.monotonic_ns() - begin)
            done.release()

    thread = threading.Thread(target=serve)
    thread.start()
    for _ in range(INSIDE_COUNT):
        time.sleep(0.002)
        ask.put(time.monotonic_ns())
        done.acquire()
    ask.put(None)
    thread.join()
    return statistics.median(times) * 1e-6


def test_image_inside_one_process(report):
    frame = np.random.default_rng(0).integers(0, 256, FRAME_BYTES, np.uint8)
    frame.flags.writeable = False  # what nobody may change need not be copied
    times: list[int] = []
    shared: list[bool] = []
    called = threading.Semaphore(0)

    def on_image(image: Image) -> None:
        now, stamp = time.monotonic_ns(), image.header.stamp
        times.append(now - stamp.sec * 10**9 - stamp.nanosec)
        shared.append(np.shares_memory(image.data, frame))
        called.release()

    context = rclpy.Context()
    context.init(args=[], domain_id=next_domain())
    node = rclpy.create_node("inside", context=context)
    node.create_subscription(Image, "image", on_image, 10)
    publisher = node.create_publisher(Image, "image", 10)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            return

    thread = threading.Thread(target=spin)
    thread.start()
    message = Image(height=HEIGHT, width=WIDTH, encoding="rgb8", step=3 * WIDTH, data=frame)
    medians, wake_ups = [], []
    for _ in range(INSIDE_ROUNDS):
        times.clear()
        wake_ups.append(wake_up_ms())
        for _ in range(INSIDE_COUNT):
            time.sleep(0.002)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.monotonic_ns(), 10**9)
            publisher.publish(message)
            called.acquire()
        medians.append(statistics.median(times) * 1e-6)
    context.try_shutdown()
    thread.join()
    p50 = statistics.median(medians)
    report(
        "image 640x480 inside one process, publish to callback, not copied",
        f"p50 {p50:.3f} ms, same memory in {sum(shared)} of {len(shared)}",
        f"waking a thread {statistics.median(wake_ups):.3f} ms",
        f"{INSIDE_BAR_MS:g} ms",
    )
    assert all(shared)
    assert p50 <= INSIDE_BAR_MS
