"""What one process alone is measured at: `python runtime_alone.py ROLE DOMAIN`; answers with one line of JSON.

Nothing heavy is imported at the top, as starting is one of the measurements.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

IDLE_S = 10.0
TIMER_PERIOD_S = 0.001
TIMER_S, TIMER_ROUNDS = 1.0, 6


def ros_start(domain: int) -> dict[str, Any]:
    """The time from nothing to the first node."""
    begin = time.perf_counter()
    import rclpy

    rclpy.init(args=[], domain_id=domain)
    rclpy.create_node("first")
    seconds = time.perf_counter() - begin
    rclpy.shutdown()
    return {"seconds": seconds}


def bare_start(domain: int) -> dict[str, Any]:
    """What of it are the two libraries that do the work."""
    begin = time.perf_counter()
    import numpy as np
    import zenoh

    session = zenoh.open(zenoh.Config())
    seconds = time.perf_counter() - begin
    session.close()
    return {"seconds": seconds, "numpy": np.__version__}


def rest() -> dict[str, Any]:
    """The share of one CPU that this process takes while nothing happens, and its memory."""
    time.sleep(1.0)
    wall, cpu = time.monotonic(), time.process_time()
    time.sleep(IDLE_S)
    share = (time.process_time() - cpu) / (time.monotonic() - wall)
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return {"cpu": share, "rss_mb": kilobytes / 1024}


def ros_idle(domain: int) -> dict[str, Any]:
    """A node that is spun, as the first thing of a program."""
    import rclpy

    rclpy.init(args=[], domain_id=domain)
    node = rclpy.create_node("idle")
    found: dict[str, Any] = {}

    def measure() -> None:
        found.update(rest())
        rclpy.try_shutdown()

    thread = threading.Thread(target=measure)
    thread.start()
    try:
        rclpy.spin(node)
    except rclpy.executors.ExternalShutdownException:  # the usual end
        thread.join()
    return found


def bare_idle(domain: int) -> dict[str, Any]:
    """A session with one subscriber."""
    import zenoh

    session = zenoh.open(zenoh.Config())
    session.declare_subscriber(f"openral/perf/{domain}/idle", zenoh.handlers.Callback(print, indirect=False))
    found = rest()
    session.close()
    return found


def timer(domain: int) -> dict[str, Any]:
    """How late the calls of a fast timer come, and those of `time.sleep`, in turns."""
    import numpy as np
    import rclpy
    from rclpy.clock import Clock
    from rclpy.clock_type import ClockType

    rclpy.init(args=[], domain_id=domain)
    node = rclpy.create_node("timed")
    lags: dict[str, list[float]] = {"ros": [], "bare": []}
    drifts: list[float] = []

    def on_timer(info: Any) -> None:
        lags["ros"].append((info.actual_call_time - info.expected_call_time).nanoseconds * 1e-3)
        due.append(info.expected_call_time.nanoseconds)

    for _ in range(TIMER_ROUNDS):
        due: list[int] = []
        end = time.monotonic() + TIMER_S
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        ticking = node.create_timer(TIMER_PERIOD_S, on_timer, clock=clock)
        while time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.1)
        node.destroy_timer(ticking)
        drifts.append((due[-1] - due[0]) * 1e-3 % (TIMER_PERIOD_S * 1e6))
        begin = time.monotonic()
        for index in range(1, int(TIMER_S / TIMER_PERIOD_S)):
            time.sleep(max(0.0, begin + index * TIMER_PERIOD_S - time.monotonic()))
            lags["bare"].append((time.monotonic() - begin - index * TIMER_PERIOD_S) * 1e6)
    rclpy.shutdown()
    figures = {
        f"{side}_p{q}_us": float(np.percentile(found, q)) for side, found in lags.items() for q in (50, 99)
    }
    periods = TIMER_ROUNDS * TIMER_S / TIMER_PERIOD_S
    return {**figures, "ros_calls": len(lags["ros"]), "periods": periods, "ros_drift_us": max(drifts)}


ROLES = {function.__name__: function for function in (ros_start, bare_start, ros_idle, bare_idle, timer)}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(ROLES[sys.argv[1]](int(sys.argv[2]))) + "\n")
