"""How soon the end or the silence of a sidecar is noticed, and how soon nothing is left after a parent was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
from system_stack import wait_for

from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.sidecar import Identity, Sidecar, SidecarSettings

TRIES = 8
KILLED_BAR_MS = 500.0
STOPPED_BAR = 2.0
"""In latency budgets."""
BUDGET_S = 1.0
ORPHANS_BAR_S = 2.0
SPEC = SidecarSpec("no-op", "3.11", (), "no_op_sidecar")
SERVER = """
import argparse, subprocess, sys
from openral_sidecar.identity import Identity
from openral_sidecar.server import serve, server_arguments, server_options
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
parser = argparse.ArgumentParser()
server_arguments(parser)
options = server_options(parser.parse_args())
serve({}, Identity("no-op"), options, describe=lambda: {"child": child.pid})
"""
PARENT = """
import sys, time
from pathlib import Path
from test_sidecar_faults import SPEC, SETTINGS
from openral_sidecar.sidecar import Identity, Sidecar
sidecar = Sidecar.open(SPEC, [], Identity("no-op"), SETTINGS)
print(sidecar.pid, sidecar.description["child"], flush=True)
time.sleep(600)
"""
SETTINGS = SidecarSettings(
    python=Path(sys.executable), call_timeout_s=BUDGET_S, restart_pauses_s=(0.0,) * (TRIES + 1)
)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server's module and a cache of the test's own."""
    (tmp_path / "no_op_sidecar.py").write_text(SERVER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))


def running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def seconds_until(condition: Callable[[], object]) -> float:
    began = time.perf_counter()
    while not condition():
        time.sleep(0.002)
    return time.perf_counter() - began


def noticed_after(sig: signal.Signals) -> np.ndarray:
    """Return how long it took each time until `down` said that the server is lost [s]."""
    times = []
    with Sidecar.open(SPEC, [], Identity("no-op"), SETTINGS) as sidecar:
        for _ in range(TRIES):
            os.kill(sidecar.pid, sig)
            times.append(seconds_until(lambda: sidecar.down))
            wait_for(lambda: sidecar.down is None, "the restart")
    return np.array(times)


def test_a_killed_sidecar_is_noticed(report) -> None:
    times = 1e3 * noticed_after(signal.SIGKILL)
    figure = f"p50 {np.median(times):.0f} ms, worst {times.max():.0f} ms of {TRIES}"
    report("sidecar killed -> noticed, idle", figure, "-", f"{KILLED_BAR_MS:g} ms")
    assert times.max() <= KILLED_BAR_MS


def test_a_stopped_sidecar_is_noticed(report) -> None:
    times = noticed_after(signal.SIGSTOP) / BUDGET_S
    figure = f"p50 {np.median(times):.2f}, worst {times.max():.2f} budgets of {TRIES}"
    report(f"sidecar stopped -> noticed, budget {BUDGET_S:g} s", figure, "-", f"{STOPPED_BAR:g} budgets")
    assert times.max() <= STOPPED_BAR


def test_nothing_is_left_of_a_killed_parent(report) -> None:
    times = []
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for _ in range(TRIES):
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert all(map(running, pids))
        parent.kill()
        times.append(seconds_until(lambda pids=pids: not any(map(running, pids))))
        parent.communicate()
    figure = f"p50 {np.median(times):.2f} s, worst {max(times):.2f} s of {TRIES}"
    report("parent killed -> server and its child gone", figure, "-", f"{ORPHANS_BAR_S:g} s")
    assert max(times) <= ORPHANS_BAR_S
