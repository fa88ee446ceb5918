"""A robot behind a long, thin cable: how soon it stops while pictures come, and how soon it is known again.

150 ± 50 ms in each direction, one packet in a hundred is lost, 1 MB/s; real TCP and TLS through TUN interfaces.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "ros2_embedded" / "tests" / "security"))
from network_machines import OPERATOR, PEERS, ROBOT, Heard, Machines, opened

STOPS, CUTS = 20, 5
CUT_S = 30.0
KNOWN_S = 2.0
MOST_OVER_QUIET = 4.0
"""Median of a stop while pictures fill the cable, in units of one on the idle cable."""


def world(machines: Machines, pictures: str, *words: str) -> tuple[subprocess.Popen[str], Heard]:
    """Start the routers, a robot and an operator; they end with the machines."""
    machines.router("hub", "hub")
    machines.router(ROBOT, "robot", "--join", *words)
    machines.router(OPERATOR, "operator", "--join")
    robot = machines.run(ROBOT, str(PEERS), "robot", "640" if pictures else "16")
    heard = Heard(machines.run(OPERATOR, str(PEERS), "operator", *(["jpeg"] if pictures == "jpeg" else [])))
    heard.until(lambda told: "tick" in told)
    return robot, heard


def stops_s(operator: Heard) -> np.ndarray:
    """Round trips of the service that stops [s]."""
    found = []
    for _ in range(STOPS):
        began = time.monotonic()
        operator.stop()
        found.append(time.monotonic() - began)
        time.sleep(0.3)
    return np.array(found)


def measure(folder: Path, pictures: str, *words: str) -> tuple[np.ndarray, float, float]:
    """Return how long stops take [s], the rate of pictures [Hz], and what the cable carries [MB/s]."""
    folder.mkdir()
    with opened(folder, thin={}) as machines:
        _, operator = world(machines, pictures, *words)
        operator.during(3.0)
        before = machines.carried()[1]
        heard = operator.during(8.0)
        carried = (machines.carried()[1] - before) / 8e6
        return stops_s(operator), sum("image" in told for told in heard) / 8.0, carried


@pytest.mark.timeout(600)
def test_a_stop_while_pictures_come(tmp_path, report):
    quiet, _, _ = measure(tmp_path / "quiet", "")
    medians = []
    for name, pictures, words in (
        ("JPEG", "jpeg", ()),
        ("raw", "raw", ()),
        ("raw, 18 MB/s offered", "raw", ("--image-hz", "0")),
    ):
        stops, hz, carried = measure(tmp_path / str(len(medians)), pictures, *words)
        medians.append(float(np.median(stops)))
        report(
            f"stop over 1 MB/s, 150 ± 50 ms, 1 % loss; pictures: {name}, {hz:.1f} Hz arrive, {carried:.2f} MB/s",
            f"median {medians[-1]:.2f} s, worst {stops.max():.2f} s of {STOPS}",
            f"without pictures: median {np.median(quiet):.2f} s, worst {quiet.max():.2f} s",
            f"{MOST_OVER_QUIET:g} x without",
        )
    assert max(medians) <= MOST_OVER_QUIET * np.median(quiet)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("delay_s", [0.075, 0.15])
def test_what_is_latched_is_known_after_a_cut(tmp_path, report, delay_s):
    found, trip_s = [], 2 * delay_s
    with opened(tmp_path, thin={"delay_s": delay_s, "jitter_s": delay_s / 3}) as machines:
        robot, operator = world(machines, "jpeg")
        for number in range(CUTS):
            machines.cable(plugged=False)
            robot.stdin.write(f"cut {number}\n")
            robot.stdin.flush()
            time.sleep(CUT_S + 0.4 * number)
            operator.forget()
            machines.cable(plugged=True)
            began = time.monotonic()
            operator.until(lambda told, number=number: told.get("state") == f"cut {number}")
            found.append(time.monotonic() - began)
    report(
        f"cable cut for {CUT_S:.0f} s and back -> latched state known; round trip {1e3 * trip_s:.0f} ms, 1 % loss",
        ", ".join(f"{each:.1f} s" for each in found),
        f"five round trips open a link: {5 * trip_s:.2f} s",
        f"{KNOWN_S:g} s",
    )
    assert len(found) == CUTS
