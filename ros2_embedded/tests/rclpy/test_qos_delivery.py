"""Quality of service between two processes: keep all, best effort, latched messages and late joiners."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from std_msgs.msg import String

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

PEER = Path(__file__).with_name("qos_peer.py")
KEEP_ALL = QoSProfile(depth=1, history=HistoryPolicy.KEEP_ALL)
Start = Callable[..., subprocess.Popen[str]]
Spin = Callable[..., None]


@pytest.fixture
def sender() -> Iterator[Start]:
    """Start `qos_peer.py`."""
    started: list[subprocess.Popen[str]] = []

    def start(profile: str, count: int, length: int = 8) -> subprocess.Popen[str]:
        command = [sys.executable, str(PEER), profile, str(count), str(length)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_until_sent(process: subprocess.Popen[str]) -> None:
    """Block until the sender has handed over everything."""
    assert process.stdout is not None
    assert process.stdout.readline() == "sent\n"


def send_one_more(process: subprocess.Popen[str]) -> None:
    """Have the sender publish its next number."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def subscribe(node: Node, profile: QoSProfile) -> list[int]:
    """The numbers heard, a list that grows while the node is spun."""
    heard: list[int] = []
    node.create_subscription(String, "/numbers", lambda m: heard.append(int(m.data.split()[0])), profile)
    return heard


@pytest.mark.parametrize(("count", "length"), [(3000, 20), (48, 500_000)], ids=["many", "large"])
def test_keep_all_loses_nothing_while_nobody_listens(
    node: Node, spin: Spin, sender: Start, count: int, length: int
) -> None:
    heard = subscribe(node, KEEP_ALL)
    # The node is not spun, and the large ones are more than the shared memory holds.
    wait_until_sent(sender("keep_all", count, length))
    spin(lambda: len(heard) >= count)
    assert heard == list(range(count))


def test_best_effort_holds_no_sender_up(node: Node, spin: Spin, sender: Start) -> None:
    count = 200
    heard = subscribe(node, QoSProfile(depth=3, reliability=ReliabilityPolicy.BEST_EFFORT))
    wait_until_sent(sender("best_effort", count, 200_000))
    spin(lambda: heard)
    assert len(heard) < count
    assert heard == sorted(set(heard))


@pytest.mark.parametrize("depth", [1, 2, 10])
def test_late_joiners_get_what_both_depths_allow(node: Node, spin: Spin, sender: Start, depth: int) -> None:
    process = sender("latched", 5)
    wait_until_sent(process)
    profile = QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    kept = [2, 3, 4][-depth:]
    first = subscribe(node, profile)
    spin(lambda: len(first) >= len(kept))
    second = subscribe(node, profile)
    spin(lambda: len(second) >= len(kept))
    send_one_more(process)
    spin(lambda: first[-1:] == second[-1:] == [5])
    expected = [*kept, 5]
    assert first[-len(expected) :] == second == expected  # what was on its way may come before


def test_a_volatile_late_joiner_gets_nothing_old(node: Node, spin: Spin, sender: Start) -> None:
    process = sender("latched", 5)
    wait_until_sent(process)
    heard = subscribe(node, QoSProfile(depth=10))
    spin(lambda: node.count_publishers("/numbers") == 1)
    send_one_more(process)
    spin(lambda: 5 in heard)
    assert len(heard) < 4  # what was on its way may come, but not the three that are kept


def test_a_late_joiner_in_the_same_process(node: Node, spin: Spin) -> None:
    latched = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, "/numbers", latched)
    for index in range(4):
        publisher.publish(String(data=str(index)))
    heard = subscribe(node, latched)
    spin(lambda: len(heard) >= 2)
    publisher.publish(String(data="4"))
    spin(lambda: len(heard) >= 3)
    assert heard == [2, 3, 4]
