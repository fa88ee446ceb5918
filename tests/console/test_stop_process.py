"""The process behind Stop is started again whenever it died, also where the machine cannot start one at first."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from openral_console import stop_process
from openral_console.listen_options import ListenOptions
from openral_console.ros.stop_server import application
from openral_console.sessions import STOP, Sessions
from openral_console.stop_process import StopProcess

popen = subprocess.Popen


def test_it_is_tried_again_where_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[int] = []

    def start(command: list[str], **how: Any) -> subprocess.Popen[str]:
        calls.append(len(calls))
        if calls[-1] in (1, 2):
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return popen([sys.executable, "-c", "import sys; sys.stdin.read()"], **how)

    monkeypatch.setattr(stop_process, "PAUSE_S", 0.01)
    monkeypatch.setattr(subprocess, "Popen", start)
    said: list[str] = []
    again = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if "it is started again" in line:
            again.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        stopper = StopProcess(
            listening, Sessions.create(), ListenOptions(), tmp_path / "actions.jsonl", say, "/openral"
        )
        try:
            os.kill(stopper.pid, signal.SIGKILL)
            assert again.wait(60.0)
            assert stopper.alive
        finally:
            stopper.close()
    assert [("cannot be started" in line) for line in said] == [True, True, False]
    assert os.strerror(errno.EAGAIN) in said[0]


def test_a_stop_is_answered_before_it_is_written_down_and_beside_the_next_one() -> None:
    """A disk may stall for seconds under a recording."""
    sessions, happened, here = Sessions.create(), list[str](), threading.get_ident()

    def log(who: str, what: str, fault: str) -> None:
        happened.append("not logged in the way" if threading.get_ident() != here else "logged in the way")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sessions.sign("anna", STOP).encode()}

    async def send(message: Any) -> None:
        happened.append(message["type"])

    headers = [(b"host", b"robot:9"), (b"origin", b"http://robot:8420")]
    scope = {"type": "http", "method": "POST", "path": "/stop", "query_string": b"", "headers": headers}
    asyncio.run(application({"/stop": lambda: ""}, sessions, log)(scope, receive, send))
    assert happened == ["http.response.start", "http.response.body", "not logged in the way"]


def test_it_ends_without_a_word_where_the_console_ended_before_it_sent_the_settings() -> None:
    command = [sys.executable, "-m", "openral_console.ros.stop_server"]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_serves_also_where_the_operators_actions_cannot_be_written(tmp_path: Path) -> None:
    """As where the disk has become full since the console began."""
    (tmp_path / "full").write_text("")
    actions = tmp_path / "full" / "actions.jsonl"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stopper = StopProcess(listening, Sessions.create(), ListenOptions(), actions, print, "/openral")
        try:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/stop"
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(url, data=b"no key", timeout=60.0)
        finally:
            stopper.close()
