"""Launch files as text, run through the real `ros2`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HEADER = """
import sys
from launch import *
from launch.actions import *
from launch.conditions import *
from launch.event_handlers import *
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.substitutions import *
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

def generate_launch_description():
"""


def alive(pid: int) -> bool:
    """Whether a process runs and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool], timeout: float = 20.0) -> bool:
    """Poll a condition; the limit only ends a test that fails anyway."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


class Launcher:
    """Writes launch files and runs `ros2 launch` on them."""

    alive = staticmethod(alive)
    wait_until = staticmethod(wait_until)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "ROS_LOG_DIR": str(folder / "log")}
        self.started: list[subprocess.Popen[str]] = []

    def write(self, body: str, name: str = "test.launch.py") -> Path:
        path = self.folder / name
        path.write_text(HEADER + textwrap.indent(textwrap.dedent(body), "    "))
        return path

    def start(self, body: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "ros2cli.cli", "launch", str(self.write(body)), *arguments]
        process = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.started.append(process)
        return process

    def run(self, body: str, *arguments: str) -> tuple[int, str]:
        process = self.start(body, *arguments)
        output, _ = process.communicate(timeout=40)
        return process.returncode, output

    def pids(self, count: int) -> list[int]:
        """Process ids that scripts wrote to files `*.pid`, once there are `count`."""

        def complete() -> bool:
            files = list(self.folder.glob("*.pid"))
            return len(files) == count and all(file.read_text().strip() for file in files)

        assert wait_until(complete), [file.name for file in self.folder.glob("*.pid")]
        return [int(file.read_text()) for file in self.folder.glob("*.pid")]


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path)
    yield launcher
    for process in launcher.started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
    # What a failed test leaves behind belongs to this test alone: its processes wrote their ids into its
    # folder.
    for file in tmp_path.glob("*.pid"):
        text = file.read_text().strip()
        if text and alive(int(text)):
            os.kill(int(text), signal.SIGKILL)


TEST_HEADER = """
import asyncio
import sys
import threading

import launch
import launch.actions
import launch_pytest
import pytest
from launch import LaunchDescription
from launch.actions import ExecuteProcess
from launch_pytest import tools
from launch_pytest.actions import ReadyToTest
from launch_pytest.tools import process as process_tools

TALK = '''
import signal, sys, threading
done = threading.Event()
signal.signal(signal.SIGINT, lambda *_: done.set())
print("out", flush=True)
print("err", file=sys.stderr, flush=True)
done.wait()
print("bye", flush=True)
'''


def talker():
    return ExecuteProcess(cmd=[sys.executable, "-c", TALK], cached_output=True, output="screen")


@pytest.fixture(scope="module")
def order():
    return []
"""


class UserTests:
    """Writes files of tests and runs pytest on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, body: str, *arguments: str, name: str = "test_system.py", header: str = TEST_HEADER) -> str:
        """What pytest says of a file of tests."""
        (self.folder / name).write_text(header + textwrap.dedent(body))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", "-rs"]
        environment = {**os.environ, "ROS_LOG_DIR": str(self.folder / "log"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*command, *arguments, name],
            env=environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=200,
            check=False,
        )
        return done.stdout

    @staticmethod
    def outcomes(output: str) -> str:
        """The counts of the last line that pytest wrote."""
        found = re.search(r"=+ (.*) in [\d.]+s", output.rstrip().splitlines()[-1])
        return found.group(1) if found else output


@pytest.fixture
def user_tests(tmp_path: Path) -> UserTests:
    return UserTests(tmp_path)
