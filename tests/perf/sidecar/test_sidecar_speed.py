"""What a call of a sidecar costs, beside the two protocols that policies are served with elsewhere, each as its own
client and server speak it.

The wires take turns, so that what else the machine does weighs on all of them; each is judged by the ratio. Ours
goes over the Unix socket that a server on this machine announces, the others over TCP, which is all that they know. A
fourth, ZeroMQ alone over such a socket, sends as many bytes that nobody packs or reads: it is a third and more of what
the others take, so that no protocol on ZeroMQ can take much less than half of theirs.
"""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from system_stack import wait_for

from openral_sidecar.server_announcement import announcements

HERE = Path(__file__).parent
ROUNDS, CALLS, WARM_UP = 24, 60, 10
"""Rounds, calls of each wire in a round, and how many of these only bring its processes back into the caches."""
MOST_OF_OTHERS, MOST_OF_BARE = 0.75, 3.0
"""p50 in units of each of the other wires' and of ZeroMQ's alone, round by round; the median of these counts."""
P99_MS = 2.0
"""On an idle machine; reported, not asserted."""


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The address of each server, by wire."""
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    processes = {
        wire: subprocess.Popen(
            [sys.executable, str(HERE / "sidecar_servers.py"), wire], stdout=subprocess.PIPE, text=True
        )
        for wire in ("openral", "rldx", "websocket", "bare")
    }
    try:
        wait_for(lambda: list(announcements()), "the openral server")
        addresses = {"openral": next(announcements()).endpoint}
        for wire, scheme in (("rldx", "tcp"), ("websocket", "ws")):
            addresses[wire] = f"{scheme}://127.0.0.1:{int(processes[wire].stdout.readline())}"
        addresses["bare"] = f"ipc://{processes['bare'].stdout.readline().strip()}"
        yield addresses
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


@contextlib.contextmanager
def clients(addresses: dict[str, str], side: int) -> Iterator[dict[str, Callable[[int], list[float]]]]:
    """Yield one function a wire, which makes so many calls and returns how long each took [ms]."""
    processes = {
        wire: subprocess.Popen(
            [sys.executable, str(HERE / "sidecar_clients.py"), wire, address, str(side)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for wire, address in addresses.items()
    }

    def call(process: subprocess.Popen[str], count: int) -> list[float]:
        process.stdin.write(f"{count}\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        yield {wire: functools.partial(call, process) for wire, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


@pytest.mark.parametrize("side", [224, 480])
def test_round_trip(servers: dict[str, str], side: int, report) -> None:
    times: dict[str, list[list[float]]] = {wire: [] for wire in servers}
    with clients(servers, side) as wires:
        for _ in range(ROUNDS):
            for wire, call in wires.items():
                times[wire].append(call(CALLS))
    rounds = {wire: np.array(values)[1:, WARM_UP:] for wire, values in times.items()}
    p50, p99 = ({wire: np.percentile(ms, q) for wire, ms in rounds.items()} for q in (50, 99))
    shares = {
        other: np.median(np.median(rounds["openral"], axis=1) / np.median(rounds[other], axis=1))
        for other in ("rldx", "websocket", "bare")
    }
    report(
        f"sidecar call, two images of {side}², loopback",
        f"p50 {p50['openral']:.2f} ms, p99 {p99['openral']:.2f} ms",
        ", ".join(f"{wire} p50 {p50[wire]:.2f} ms ({share:.2f} x)" for wire, share in shares.items()),
        f"{MOST_OF_OTHERS:g} x each, {MOST_OF_BARE:g} x bare; idle p99 {P99_MS:g} ms",
    )
    for other, share in shares.items():
        assert share <= (MOST_OF_BARE if other == "bare" else MOST_OF_OTHERS), other
