"""Endurance: twenty processes with ten topics each, which are killed and come back for ten minutes.

`make soak`, or `SOAK_S=60 make soak` for a short one. It prints how long the graph took after each change,
and the memory of the processes that lived through all of it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

PROGRAM = Path(__file__).with_name("worker.py")
SOAK_S = float(os.environ.get("SOAK_S", "600"))
NODES, TOPICS = 20, 10
ELDERS = 2  # workers that are never killed; their memory must not grow
PAUSE_S = 1.0
# Share of the time after which memory must be flat. The memory of Zenoh's threads levels off after each peer
# has gone and come back some times; a bare session with forty tokens gains 1.3 MB until then, and no more.
WARM_UP = 0.5
GROWTH_BAR = 0.05
GRAPH_BAR_S = 1.0
PATIENCE_S = 60.0

# Sessions find each other whatever their domain: those of other programs would be measured too.
os.environ["ZENOH_CONFIG_OVERRIDE"] = (
    f'scouting/multicast/address="224.0.0.224:{20_000 + os.getpid() % 20_000}"'
)


def resident_bytes(pid: int | str) -> int:
    """The resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Workers:
    """The processes."""

    def __init__(self) -> None:
        self.processes: dict[int, subprocess.Popen[str]] = {}

    def start(self, index: int) -> None:
        """Start one; it has its node when this returns."""
        command = [sys.executable, str(PROGRAM), str(index), str(NODES), str(TOPICS)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.processes[index] = process
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    def kill(self, index: int) -> None:
        """End one as the kernel does when memory runs out."""
        process = self.processes.pop(index)
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    for index in list(workers.processes):
        workers.kill(index)


@pytest.fixture
def watcher() -> Iterator[Node]:
    rclpy.init(args=[])
    node = Node("watcher")
    yield node
    rclpy.try_shutdown()


def is_right(node: Node, alive: set[int]) -> bool:
    """True when the graph holds the workers that are alive, with all their topics, and no others."""
    names = {name for name in node.get_node_names() if name.startswith("worker")}
    return names == {f"worker{index}" for index in alive} and all(
        node.count_publishers(f"/topic{index}_{number}") == (index in alive)
        and node.count_subscribers(f"/topic{index}_{number}") == ((index - 1) % NODES in alive)
        for index in range(NODES)
        for number in range(TOPICS)
    )


def seconds_until(condition: Callable[[], bool], node: Node) -> float:
    """How long a condition takes, while the node is spun."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < PATIENCE_S, "the graph stays wrong"
        try:
            rclpy.spin_once(node, timeout_sec=0.01)
        except ExternalShutdownException:
            pytest.fail("the context was shut down")
    return time.monotonic() - begin


@pytest.mark.timeout(0)
def test_graph_and_memory(workers: Workers, watcher: Node) -> None:
    for index in range(NODES):
        workers.start(index)
    seconds_until(lambda: is_right(watcher, set(range(NODES))), watcher)
    pids = {"watcher": os.getpid(), **{f"worker{i}": workers.processes[i].pid for i in range(ELDERS)}}
    chance = random.Random(0)
    delays: dict[str, list[float]] = {"killed": [], "returned": []}
    begin = time.monotonic()
    warm: dict[str, int] = {}
    while (elapsed := time.monotonic() - begin) < SOAK_S:
        if not warm and elapsed > WARM_UP * SOAK_S:
            warm = {name: resident_bytes(pid) for name, pid in pids.items()}
        index = chance.randrange(ELDERS, NODES)
        workers.kill(index)
        alive = set(range(NODES)) - {index}
        delays["killed"].append(seconds_until(lambda alive=alive: is_right(watcher, alive), watcher))
        workers.start(index)
        delays["returned"].append(seconds_until(lambda: is_right(watcher, set(range(NODES))), watcher))
        pause = time.monotonic() + PAUSE_S
        while time.monotonic() < pause:
            rclpy.spin_once(watcher, timeout_sec=0.1)
    growth = {name: resident_bytes(pid) / warm[name] - 1 for name, pid in pids.items()}
    lines = [f"{SOAK_S:.0f} s, {NODES} nodes, {NODES * TOPICS} topics"]
    lines += [
        f"graph right after a node was/has {what}: {len(found)} times, "
        f"median {sorted(found)[len(found) // 2]:.3f} s, longest {max(found):.3f} s"
        for what, found in delays.items()
    ]
    lines += [
        f"memory of {name}: {warm[name] / 1e6:.1f} MB, then {100 * value:+.1f} %"
        for name, value in growth.items()
    ]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert max(growth.values()) < GROWTH_BAR
    assert max(delays["killed"] + delays["returned"]) < GRAPH_BAR_S
