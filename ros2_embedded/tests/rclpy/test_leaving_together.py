"""Publishers are taken back while other processes leave the graph, and neither waits for the other."""

from __future__ import annotations

import subprocess
import sys

import pytest

PATIENCE_S = 60.0
STALL_S = 9.0
"""[s] Zenoh waits for ten seconds, with the interpreter's lock held, and then goes on without a word."""
BEGIN = """
import sys
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("member" + sys.argv[1])
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""
PEER = f"""{BEGIN}
for index in range(20):
    node.create_publisher(String, f"said_{{index}}", 1)
print("ready", flush=True)
sys.stdin.readline()
rclpy.shutdown()
"""
CHANGING = f"""{BEGIN}
import threading
import time
print("ready", flush=True)
told, stalls = threading.Event(), 0
threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
while not told.wait(0.002):
    made = [node.create_publisher(String, f"latched_{{index}}", latched) for index in range(8)]
    for publisher in made:
        publisher.publish(String(data="once"))
        begun = time.monotonic()
        publisher.destroy()
        stalls += time.monotonic() - begun > {STALL_S}
rclpy.shutdown()
print(stalls)
"""


def start(program: str, name: str) -> subprocess.Popen[str]:
    """Start a program with a node, and wait until it is there."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> str:
    """Tell a program to end, see that it does, and return what it said last."""
    said, _ = process.communicate("\n", timeout=PATIENCE_S)
    assert process.returncode == 0
    return said


@pytest.mark.timeout(6 * PATIENCE_S)
@pytest.mark.parametrize("peers", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_latched_publishers_are_taken_back_while_others_leave(peers: int) -> None:
    """To take one back, Zenoh waits for a thread that may just be telling of another process's end."""
    changing = start(CHANGING, "changing")
    try:
        for turn in range(peers):
            end(start(PEER, str(turn)))
        assert end(changing) == "0\n", "publishers that could not be taken back at once"
    finally:
        changing.kill()
        changing.communicate()
