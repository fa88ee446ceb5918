"""A robot whose pictures are ten times what its cable to the other machines carries."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from network_machines import OPERATOR, PATIENCE_S, PEERS, PORT, ROBOT, Heard, Machines, opened

pytestmark = pytest.mark.slow

MOST_WAITING = 400_000
"""[bytes] before a stop: pictures of a third of a second."""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    if shutil.which("ss") is None:
        pytest.skip("ss of iproute2 tells what a system has not sent yet")
    with opened(tmp_path_factory.mktemp("thin"), thin={}) as found:
        yield found


@pytest.fixture(scope="module")
def robot(machines: Machines) -> subprocess.Popen[str]:
    machines.router("hub", "hub")
    machines.router(ROBOT, "robot", "--join", "--image-hz", "0")
    machines.router(OPERATOR, "operator", "--join")
    return machines.run(ROBOT, str(PEERS), "robot", "640")


@pytest.fixture(scope="module")
def operator(machines: Machines, robot: subprocess.Popen[str]) -> Heard:
    heard = Heard(machines.run(OPERATOR, str(PEERS), "operator"))
    heard.until(lambda told: "tick" in told)
    return heard


def says(robot: subprocess.Popen[str], state: str) -> None:
    robot.stdin.write(f"{state}\n")
    robot.stdin.flush()


def waiting(machines: Machines) -> list[int]:
    """Bytes that the robot's system keeps and has not sent yet, of each link to the hub that is open."""
    command = ["ip", "netns", "exec", f"{machines.name}{ROBOT}", "ss", "-tinH", "state", "established"]
    told = subprocess.run(
        [*command, "dport", f"= :{PORT}"], check=True, capture_output=True, text=True
    ).stdout
    links = [line for line in told.splitlines() if "rto:" in line]
    return [int(found[1]) if (found := re.search(r"notsent:(\d+)", line)) else 0 for line in links]


def test_what_commands_does_not_wait_behind_pictures(
    machines: Machines, robot: subprocess.Popen[str], operator: Heard
) -> None:
    carried = machines.carried()[1]
    most = 0
    operator.forget()
    for _ in range(30):
        time.sleep(0.2)
        most = max(most, *waiting(machines), 0)
    assert machines.carried()[1] - carried > 1_000_000  # there were pictures
    assert most < MOST_WAITING
    operator.stop()


def test_what_is_reliable_is_not_lost_where_pictures_are(operator: Heard) -> None:
    ticks = [told["tick"] for told in operator.during(6.0) if "tick" in told]
    assert len(ticks) > 20
    assert ticks == list(range(ticks[0], ticks[-1] + 1))


def test_a_dead_link_is_gone_before_its_cable_is_back(
    machines: Machines, robot: subprocess.Popen[str], operator: Heard
) -> None:
    machines.cable(plugged=False)
    says(robot, "working alone")
    end = time.monotonic() + PATIENCE_S
    while waiting(machines):
        assert time.monotonic() < end, "Zenoh would take a new link for one more of the dead one"
        time.sleep(0.2)
    machines.cable(plugged=True)
    operator.until(lambda told: told.get("state") == "working alone")
    operator.stop()
