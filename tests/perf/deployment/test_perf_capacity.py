"""Many robots in one graph: what a newcomer receives and keeps, what their status weighs, how soon all are stopped.

The robots have the nodes and endpoints of a real deployment, but no arm and no pictures (`fake_robots.py`); they are
on one machine, ten in a process. The operator is on another, behind a hub. The machines are network namespaces.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "ros2_embedded" / "tests" / "security"))
from network_machines import OPERATOR, ROBOT, Heard, Machines, opened

FAKES, WATCHER = (str(Path(__file__).parent / f"{name}.py") for name in ("fake_robots", "graph_watcher"))
OPENRAL = "import sys; from openral_cli.app import main; sys.exit(main())"
ROBOTS = (1, 10, 30, 100)
IN_A_PROCESS = 10
IDLE_S = 10.0
SEARCH_S = "30"
"""[s] for which commands look for robots, on a machine that has the nodes of all of them."""
READY_S = 300.0


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Return a file with the graph of a real deployment, and the number of its nodes and endpoints."""
    folder = tmp_path_factory.mktemp("graph")
    words = ("deploy", "sim", "--config", "metaworld_drawer", "--namespace", "/described", "--keep-alive")
    with opened(folder) as machines:
        deployment = machines.run(ROBOT, "-c", OPENRAL, *words, HOME=str(folder))
        for line in deployment.stdout:
            if "mission done" in line:
                break
        described = machines.run(ROBOT, FAKES, "describe", "/described")
        found, _ = described.communicate(timeout=READY_S)
    file = folder / "graph.json"
    file.write_text(found)
    nodes = json.loads(found)
    kinds = ("publishers", "subscriptions", "services", "clients")
    return file, len(nodes) + sum(len(node[kind]) for node in nodes for kind in kinds)


def received(machines: Machines) -> int:
    """Return how many bytes the operator's cable has carried to it."""
    link = ("link", "show", "dev", machines.end_of_cable(OPERATOR))
    words = ["ip", "-n", f"{machines.name}hub", "-j", "-s", *link]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return int(found[0]["stats64"]["tx"]["bytes"])


def commanded(machines: Machines, *words: str) -> tuple[float, str]:
    """Run a command of openral on the operator's machine; return how long it took [s] and what it said."""
    began = time.monotonic()
    process = machines.run(OPERATOR, "-c", OPENRAL, *words, COLUMNS="200")
    said, _ = process.communicate(timeout=READY_S)
    assert process.returncode in (0, 1), said  # 1: not all
    return time.monotonic() - began, said


def watched(machines: Machines, entries: int, *words: str) -> dict[str, Any]:
    """Return what a newcomer on the operator's machine says once it knows `entries`."""
    last: dict[str, Any] = {}

    def all_there(told: dict[str, Any]) -> bool:
        last.update(told)
        return bool(told["entries"] >= entries)

    Heard(machines.run(OPERATOR, WATCHER, str(entries), *words)).until(all_there)
    return last


def carried_in_a_second(machines: Machines) -> float:
    before = received(machines)
    time.sleep(IDLE_S)
    return (received(machines) - before) / IDLE_S


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("robots", ROBOTS)
def test_many_robots(tmp_path: Path, graph: tuple[Path, int], robots: int, report: Any) -> None:
    file, entries = graph
    with opened(tmp_path) as machines:
        machines.router("hub", "hub")
        machines.router(ROBOT, "robot", "--join")
        for first in range(0, robots, IN_A_PROCESS):
            count = min(IN_A_PROCESS, robots - first)
            fakes = machines.run(ROBOT, FAKES, "run", str(file), str(first), str(count))
            assert json.loads(fakes.stdout.readline()) == {"ready": count}
        before, began = received(machines), time.monotonic()
        machines.router(OPERATOR, "operator", "--join")
        newcomer = watched(machines, robots * entries)
        known_s, megabytes = time.monotonic() - began, (received(machines) - before) / 1e6
        idle = carried_in_a_second(machines)
        watched(machines, robots * entries, "--listen")
        time.sleep(IDLE_S)
        listening = carried_in_a_second(machines) - idle
        _, listed = commanded(machines, "fleet", "list", "--json", "--search", SEARCH_S)
        found = len(json.loads(listed))
        names = (f"/r{number}" for number in range(robots))
        took_s, said = commanded(machines, "fleet", "stop", *names, "--search", SEARCH_S)
        stopped = said.count("latched")
    report(
        f"robots in one graph: {robots}, of {robots * entries} nodes and endpoints",
        f"a newcomer's machine receives {megabytes:.2f} MB and knows all after {known_s:.1f} s, its node needs "
        f"{newcomer['cpu_s']:.1f} s of a core and {newcomer['rss_mb']} MB; idle {idle / 1e3:.1f} kB/s, "
        f"with every status {listening / 1e3:.1f} kB/s; {found} found in {SEARCH_S} s; "
        f"{stopped} stopped by a command of {took_s:.1f} s",
        f"{entries} nodes and endpoints a robot",
        "all are found and stopped",
    )
    assert (found, stopped) == (robots, robots)
