"""Sessions that are told of nobody but a router reach each other through it, and not after its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from ros2_embedded.router import main, warning

TALK = """
import time, rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("talker")
publisher = node.create_publisher(String, "/said", 10)
while True:
    publisher.publish(String(data="hello"))
    time.sleep(0.05)
"""
LISTEN = """
import sys, time, rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("listener")
heard = []
node.create_subscription(String, "/said", lambda message: heard.append(message.data), 10)
end = time.monotonic() + float(sys.argv[1])
while not heard and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.05)
sys.exit(0 if heard else 3)
"""


@pytest.fixture
def endpoint() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def router(endpoint: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "ros2_embedded.router", "--listen", f"tcp/{endpoint}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "forwards" in process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def run(script: str, endpoint: str, *words: str) -> subprocess.Popen[bytes]:
    """A program that looks for nobody on this machine, and knows the router."""
    environment = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": endpoint}
    return subprocess.Popen([sys.executable, "-c", script, *words], env=environment)


def test_sessions_meet_at_a_router_and_part_with_it(router: subprocess.Popen[str], endpoint: str) -> None:
    talker = run(TALK, endpoint)
    try:
        assert run(LISTEN, endpoint, "60").wait(90) == 0
        router.send_signal(signal.SIGTERM)
        assert router.wait(90) == 0
        time.sleep(0.5)
        assert run(LISTEN, endpoint, "2").wait(60) == 3
    finally:
        talker.kill()
        talker.wait()


def test_an_address_that_is_taken_is_said(router: subprocess.Popen[str], endpoint: str) -> None:
    command = [sys.executable, "-m", "ros2_embedded.router", "--listen", f"tcp/{endpoint}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "the router cannot listen" in done.stderr


@pytest.mark.parametrize("endpoint", ["tcp/0.0.0.0:7447", "tcp/127.0.0.1.example.org:7447", "tcp/[::]:7447"])
def test_endpoints_that_others_reach_are_warned_of(endpoint: str) -> None:
    assert warning(["tcp/127.0.0.1:0", endpoint]).startswith(f"warning: {endpoint} is not encrypted")


def test_endpoints_of_this_machine_need_no_warning() -> None:
    assert not warning(["tcp/127.0.0.1:7447", "tcp/[::1]:0", "udp/127.0.0.1:0", "unixsock-stream/x"])


@pytest.mark.parametrize("seconds", ["nan", "inf", "0"])
def test_a_handshake_takes_a_time(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--handshake-s", seconds])
    assert "--handshake-s: a number of seconds" in capsys.readouterr().err


@pytest.mark.parametrize("rate", ["nan", "inf", "-1"])
@pytest.mark.parametrize("option", ["--image-hz", "--jpeg-hz"])
def test_a_rate_of_pictures_is_a_number(option: str, rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([f"{option}={rate}", "--config", "/nowhere"])
    assert f"{option}: a finite rate" in capsys.readouterr().err
