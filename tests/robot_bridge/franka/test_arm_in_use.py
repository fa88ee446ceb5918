"""An arm that another program holds, and what is left of a program that gave a silent hand up."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from twin_process import TwinProcess
from typer.testing import CliRunner

from openral_robot_bridge.commands import app
from openral_robot_bridge.driver import ArmError
from openral_robot_bridge.drivers.arm_in_use import ARM_PORT, refuse_held

PATIENCE_S = 90.0
GIVES_UP = """
import sys, time
from openral_robot_bridge.drivers.hand_proxy import hand_at
from openral_robot_bridge.drivers.client_process import ClientProcess
answer = ClientProcess.answer
def starting(process, patience_s):
    said = answer(process, patience_s)
    print(process._process.pid, flush=True)
    time.sleep(600)
    return said
ClientProcess.answer = starting
hand_at(sys.argv[1], "franky").max_width_m()
"""
"""A program that is connecting to a hand, and says which process does it."""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["check"], marks=pytest.mark.slow),
        ["home", "--yes"],
        pytest.param(["recover"], marks=pytest.mark.slow),
    ],
)
def test_an_arm_that_another_program_holds_is_refused_with_its_name(
    twin: TwinProcess, command: list[str]
) -> None:
    with socket.create_connection((twin.address, ARM_PORT)):
        ended = CliRunner().invoke(app, [*command, "fr3_tabletop", "--address", twin.address])
    assert isinstance(ended.exception, ArmError)
    said = str(ended.exception)
    assert f"the arm at {twin.address} is held by process {os.getpid()} of this machine" in said
    assert "end that first" in said


def test_an_arm_that_is_let_go_meanwhile_is_not_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as arm:
        refuse_held("127.0.0.1", arm.getsockname()[1], release_s=0.0)
        with socket.create_connection(arm.getsockname()):  # this process's own counts for nothing
            refuse_held("127.0.0.1", arm.getsockname()[1], release_s=0.0)


def test_what_waits_for_a_silent_hand_ends_with_its_parent() -> None:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    address = f"127.15.{os.getpid() >> 8 & 255}.{1 + os.getpid() % 250}"
    with socket.create_server((address, 1338)):
        parent = subprocess.Popen(
            [sys.executable, "-c", GIVES_UP, address], stdout=subprocess.PIPE, text=True
        )
        assert parent.stdout is not None
        client = Path(f"/proc/{int(parent.stdout.readline())}")
        parent.send_signal(signal.SIGKILL)
        parent.communicate()
        end = time.monotonic() + PATIENCE_S
        while client.exists() and "State:\tZ" not in (client / "status").read_text():
            assert time.monotonic() < end, "it goes on"
            time.sleep(0.05)
