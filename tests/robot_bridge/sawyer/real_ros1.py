"""The real ROS 1 of Debian's packages: `roscore`, and scripts with rospy, in processes of their own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PYTHON = "/usr/bin/python3"
"""The interpreter that Debian's rospy belongs to."""


def missing() -> str:
    """Why there is no real ROS 1; empty: there is."""
    if shutil.which("roscore") is None or not Path(PYTHON).exists():
        return "no roscore: apt-get install python3-roslaunch python3-rospy python3-sensor-msgs"
    done = subprocess.run([PYTHON, "-c", "import rospy, sensor_msgs.msg"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "no rospy: apt-get install python3-rospy python3-sensor-msgs"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Roscore:
    """A master that can be killed and come back at the same port."""

    def __init__(self, home: Path) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ROS", "PYTHON"))}
        self.environment = {
            **kept,
            "ROS_MASTER_URI": f"http://{self.address}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOME": str(home),
        }
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["roscore", "-p", str(self.port)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 30.0
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("roscore does not come up")

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(60.0)

    def rospy(self, script: str) -> subprocess.Popen[str]:
        """Run a script that knows rospy; it may print and read lines."""
        return subprocess.Popen(
            [PYTHON, "-u", "-c", script],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
