"""SIGTERM ends every server, whatever it does at that moment and whichever thread the kernel gives it to."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sidecar_helpers import PATIENCE_S, wait_for

from openral_sidecar.client import SidecarClient
from openral_sidecar.server_announcement import announcements
from openral_sidecar.stop_request import StopRequest

NURSERY = Path(__file__).with_name("server_nursery.py")
TIMES = 8
"""Servers of each kind that are ended; OPENRAL_STOP_TIMES makes it more."""
LOST_S = 30.0
"""A server that runs for so long after SIGTERM has lost it [s]."""


class Nursery:
    """The process that forks servers."""

    def __init__(self, folder: Path) -> None:
        self._outputs = folder
        self._clients: list[SidecarClient] = []
        self._process = subprocess.Popen(
            [sys.executable, str(NURSERY)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def start(self, kind: str, verb: str = "start") -> tuple[int, SidecarClient]:
        """Start a server, wait until it answers, and return its process id and a client of it."""
        output = self._outputs / f"{kind}.log"
        output.unlink(missing_ok=True)
        pid = int(self.ask(f"{verb} {kind} {output}"))
        dialect = "openral" if kind == "echo" else "rldx"

        def endpoint() -> str:
            if kind == "fake":
                text = output.read_text() if output.exists() else ""
                return f"tcp://127.0.0.1:{json.loads(text)['port']}" if text.endswith("\n") else ""
            return next((found.endpoint for found in announcements() if found.pid == pid), "")

        client = SidecarClient(str(wait_for(endpoint, f"the address of {kind}")), dialect=dialect)
        self._clients.append(client)
        return pid, client

    def exit_reason(self, pid: int) -> str:
        return self.ask(f"wait {pid} {LOST_S}")

    def close(self) -> None:
        for client in self._clients:  # those of a test that failed
            client.close()
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    folder = tmp_path_factory.mktemp("nursery")
    before = os.environ.get("OPENRAL_CACHE_HOME")
    os.environ["OPENRAL_CACHE_HOME"] = str(folder / "cache")
    made = Nursery(folder)
    if before is None:
        del os.environ["OPENRAL_CACHE_HOME"]
    else:
        os.environ["OPENRAL_CACHE_HOME"] = before
    yield made
    made.close()


@pytest.fixture(autouse=True)
def cache(nursery: Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nursery's cache, where its servers announce themselves; in the place of the folder's fixture."""
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(nursery._outputs / "cache"))


def exchange(kind: str, client: SidecarClient) -> None:
    if kind == "fake":
        return  # its main thread only waits; its socket speaks WebSocket
    op, data = ("echo", {"pixels": np.zeros(8)}) if kind == "echo" else ("ping", {})
    client.call(op, data, timeout_s=PATIENCE_S)


@pytest.mark.parametrize("kind", ["echo", "rldx", "conformance", "fake"])
def test_a_signal_that_another_thread_gets_ends_it(nursery: Nursery, kind: str) -> None:
    pid, client = nursery.start(kind, "masked")
    exchange(kind, client)
    os.kill(pid, signal.SIGTERM)
    assert nursery.exit_reason(pid) == "0"
    client.close()
    assert not list(announcements())


@pytest.mark.timeout(900)  # it starts dozens of processes, and gives way to the tests beside it
@pytest.mark.parametrize(
    "kind",
    ["echo", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("rldx", "conformance", "fake"))],
)
def test_a_signal_at_any_moment_around_a_reply_ends_it(nursery: Nursery, kind: str) -> None:
    rng = random.Random(kind)
    times = int(os.environ.get("OPENRAL_STOP_TIMES", TIMES))
    fates = []
    for _ in range(times):
        pid, client = nursery.start(kind)
        exchange(kind, client)
        sender = threading.Thread(target=_kill_later, args=(pid, rng.uniform(0.0, 0.002)))
        sender.start()
        try:
            while sender.is_alive():
                client.call("ping", timeout_s=0.2) if kind != "fake" else time.sleep(0.0005)
        except Exception:  # noqa: BLE001  the server may end in the middle of a call
            pass
        sender.join()
        fates.append(nursery.exit_reason(pid))
        client.close()
    print(f"\n{kind}: {times} times SIGTERM, {fates.count('lost')} lost")
    assert fates == ["0"] * times
    assert not list(announcements())


def _kill_later(pid: int, delay_s: float) -> None:
    time.sleep(delay_s)
    os.kill(pid, signal.SIGTERM)


def test_requests_to_stop_from_threads_and_nested_signals_are_all_seen() -> None:
    """A handler that interrupts `ask` finds no lock that its own thread holds."""
    stop, before = StopRequest(), signal.getsignal(signal.SIGINT)
    with stop.on_signals():
        numbers = (signal.SIGTERM, signal.SIGINT) * 50
        senders = [threading.Thread(target=os.kill, args=(os.getpid(), number)) for number in numbers]
        for sender in senders:
            sender.start()
        for _ in range(1000):
            stop.ask()
        stop.wait()
        for sender in senders:
            sender.join()
    assert stop.asked
    assert signal.getsignal(signal.SIGINT) is before
    stop.close()
