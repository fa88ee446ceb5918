"""The same two programs beside each other on the embedded runtime and on a real ROS 2, in every pairing that there is.

Over Fast DDS the real one is alone with itself, which shows that the programs ask for what rclpy does. With
rmw_zenoh_cpp (`RMW_IMPLEMENTATION=rmw_zenoh_cpp` in a sourced shell, or `ROS2_PREFIX=/opt/ros/jazzy`) it meets the
embedded runtime.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from domain_coordinator import domain_id

PEER = Path(__file__).with_name("peer.py")
PAIRS = [("embedded", "embedded"), ("wheels", "wheels"), ("embedded", "zenoh"), ("zenoh", "embedded")]
"""Who serves and who asks."""
LIMIT_S = 240
SOURCED = ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH")
"""What a ROS 2 that is sourced sets, and the embedded runtime must not see."""

Runtime = tuple[str, dict[str, str]]
"""An interpreter, and the variables to run it with."""


def zenoh_environment() -> dict[str, str]:
    """Variables of a sourced ROS 2 that has rmw_zenoh_cpp; skips where there is none."""
    prefix = os.environ.get("ROS2_PREFIX")
    if prefix:
        source = f". {prefix}/setup.bash && env -0"
        listed = subprocess.run(["bash", "-c", source], capture_output=True, text=True, check=True).stdout
        variables = dict(line.split("=", 1) for line in listed.split("\0") if "=" in line)
    elif os.environ.get("RMW_IMPLEMENTATION") == "rmw_zenoh_cpp":
        variables = dict(os.environ)
    else:
        pytest.skip("no rmw_zenoh_cpp here: source a ROS 2 and set RMW_IMPLEMENTATION, or set ROS2_PREFIX")
    return {**variables, "RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}


def router(variables: dict[str, str]) -> str:
    """Path of the router that comes with rmw_zenoh_cpp."""
    for prefix in variables.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        path = Path(prefix) / "lib/rmw_zenoh_cpp/rmw_zenohd"
        if path.is_file():
            return str(path)
    return pytest.skip("rmw_zenoh_cpp is not installed in this ROS 2")


@pytest.fixture
def run() -> Iterator[Callable[[list[str], dict[str, str]], subprocess.Popen[str]]]:
    """Start a process that is killed when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def start(command: list[str], variables: dict[str, str]) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def runtime(run, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Runtime]]:
    """Return how to start a program on a runtime, on a domain of this test's own."""
    port: list[int] = []

    def choose(name: str) -> Runtime:
        if name == "wheels":
            real = request.getfixturevalue("real")
            return str(real.python), {**real.environment, "ROS_DOMAIN_ID": str(domain)}
        joined = {"ROS_DOMAIN_ID": str(domain)}
        if port:
            joined["ZENOH_CONFIG_OVERRIDE"] = f'connect/endpoints=["tcp/127.0.0.1:{port[0]}"]'
        if name == "zenoh":
            variables = {**zenoh_environment(), **joined}
            return shutil.which("python3", path=variables["PATH"]) or "python3", variables
        return sys.executable, {k: v for k, v in os.environ.items() if k not in SOURCED} | joined

    with domain_id() as domain:
        if "zenoh" in request.getfixturevalue("pair"):
            variables = zenoh_environment()
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port.append(free.getsockname()[1])
            listen = {"ZENOH_CONFIG_OVERRIDE": f'listen/endpoints=["tcp/127.0.0.1:{port[0]}"]'}
            run([router(variables)], {**variables, **listen})
            _until_listening(port[0])
        yield choose


def _until_listening(port: int) -> None:
    end = time.monotonic() + LIMIT_S
    while True:
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < end, "the router does not listen"
        time.sleep(0.1)


def until_line(stream: IO[str] | None, wanted: str) -> None:
    """Read until a line is there."""
    assert stream is not None
    for line in stream:
        if line.strip() == wanted:
            return
    raise AssertionError(f"it ended without saying {wanted!r}")


@pytest.mark.timeout(2 * LIMIT_S)
@pytest.mark.parametrize("pair", PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_what_one_offers_the_other_finds(pair: tuple[str, str], runtime, run) -> None:
    (server_python, server_variables), (client_python, client_variables) = map(runtime, pair)
    server = run([server_python, str(PEER), "serve"], server_variables)
    until_line(server.stdout, "ready")
    client = run([client_python, str(PEER), "ask"], client_variables)
    until_line(client.stdout, "leave")
    server.kill()
    answer, _ = client.communicate(timeout=LIMIT_S)
    failed = json.loads(answer.strip().splitlines()[-1])
    assert not failed, "\n".join(f"{name}: {trace}" for name, trace in failed.items())
    assert client.returncode == 0
