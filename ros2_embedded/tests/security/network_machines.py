"""Machines as network namespaces, each with a folder of its own for the Unix sockets of its graph.

The cable between the robot's machine and the hub may be a long, thin one.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ros2_embedded.security import Keystore

PEERS, THIN_CABLE = (Path(__file__).parent / name for name in ("machine_peers.py", "thin_cable.py"))
FOLDER = Path(f"/tmp/ros2_embedded-{os.getuid()}")
PATIENCE_S = 90.0
SILENCE_S = 4.0
HUB, PORT = "10.99.{}.1", 7448
ROBOT, OPERATOR = 21, 22
"""Third number of the network between the hub and each machine."""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Machines:
    """Two machines and a hub, with a keystore."""

    def __init__(self, folder: Path, thin: dict[str, float] | None = None) -> None:
        """Be ready to open.

        Args:
            folder: for the keystore, and the sockets of each machine.
            thin: options of thin_cable.py, such as `bytes_s`, for the robot's cable; None: it is as any.
        """
        self.folder, self._thin = folder, thin
        self.name = f"openral{os.getpid()}"
        self._stack = ExitStack()
        self._line: subprocess.Popen[str] | None = None
        self.keystore = Keystore(folder / "keystore")

    def open(self) -> None:
        self._namespace("hub")
        hub = f"{self.name}hub"
        for number in (ROBOT, OPERATOR):
            machine, cable = self._namespace(str(number)), f"w{os.getpid()}x{number}"
            if number == ROBOT and self._thin is not None:
                self._draw_thin(hub, f"{cable}h", machine, f"{cable}m", self._thin)
            else:
                peer = ("peer", f"{cable}m", "netns", machine)
                ip("link", "add", f"{cable}h", "netns", hub, "type", "veth", *peer)
            for namespace, end, host in ((hub, f"{cable}h", 1), (machine, f"{cable}m", 2)):
                ip("-n", namespace, "addr", "add", f"10.99.{number}.{host}/24", "dev", end)
                ip("-n", namespace, "link", "set", end, "up")
        self.keystore.create()
        hosts = [f"{HUB.format(number)}:{PORT}" for number in (ROBOT, OPERATOR)]
        self.keystore.add("hub", hosts)
        for name, host in zip(("robot", "operator"), hosts, strict=True):
            self._without_shared_memory(self.keystore.add(name, connect=[host]))

    def _draw_thin(self, one: str, one_end: str, other: str, other_end: str, thin: dict[str, float]) -> None:
        """Join two machines by a long, thin cable."""
        options = [f"--{name.replace('_', '-')}={value}" for name, value in thin.items()]
        self._line = subprocess.Popen(
            [sys.executable, str(THIN_CABLE), one, one_end, other, other_end, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(self._line.communicate)
        assert self._line.stdout.readline() == "ready\n", "there is no TUN interface here"

    def _namespace(self, name: str) -> str:
        namespace = f"{self.name}{name}"
        ip("netns", "add", namespace)
        self._stack.callback(ip, "netns", "del", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        return namespace

    def _without_shared_memory(self, session: Path) -> None:
        """Let nothing go past the cable: these machines have one memory."""
        config = json.loads(session.read_text())
        config["transport"]["shared_memory"] = {"enabled": False}
        session.write_text(json.dumps(config))

    def run(self, machine: str | int, *words: str, **environment: str) -> subprocess.Popen[str]:
        """Start a program of this Python on a machine."""
        own = self.folder / f"sockets-{machine}"
        own.mkdir(mode=0o700, exist_ok=True)
        FOLDER.mkdir(mode=0o700, exist_ok=True)
        mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
        there = ["ip", "netns", "exec", f"{self.name}{machine}", "unshare", "-m", "sh", "-c", mount]
        process = subprocess.Popen(
            [*there, str(own), str(FOLDER), sys.executable, *words],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(process.communicate)
        self._stack.callback(process.kill)
        return process

    def router(self, machine: str | int, enclave: str, *words: str) -> subprocess.Popen[str]:
        """Start a router and wait for it."""
        config = str(self.keystore.enclave(enclave) / "session.json5")
        process = self.run(machine, "-m", "ros2_embedded.router", "--config", config, *words)
        assert "forwards" in process.stdout.readline()
        return process

    def cable(self, plugged: bool) -> None:
        """Plug the robot's cable in or out."""
        if self._line is not None:
            self._tell_line("mend" if plugged else "cut")
            return
        ip("-n", f"{self.name}hub", "link", "set", self.end_of_cable(ROBOT), "up" if plugged else "down")

    def end_of_cable(self, machine: int) -> str:
        """Name of the network interface of the hub from which the cable to a machine goes."""
        return f"w{os.getpid()}x{machine}h"

    def carried(self) -> tuple[int, int]:
        """Bytes that the robot's thin cable has carried: to the robot, and from it."""
        to_robot, from_robot = self._tell_line("carried").split()
        return int(to_robot), int(from_robot)

    def _tell_line(self, order: str) -> str:
        self._line.stdin.write(f"{order}\n")
        self._line.stdin.flush()
        return self._line.stdout.readline()

    def close(self) -> None:
        self._stack.close()


class Heard:
    """What an operator says that it hears, newest last."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(json.loads(line))

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Wait for something; forget what came before it."""
        end = time.monotonic() + PATIENCE_S
        while not wanted(self._lines.get(timeout=PATIENCE_S)):
            assert time.monotonic() < end, "it says other things, and not this"

    def during(self, seconds: float) -> list[dict[str, Any]]:
        """Everything that comes from now on for so long."""
        self.forget()
        time.sleep(seconds)
        return self.forget()

    def forget(self) -> list[dict[str, Any]]:
        found = []
        while not self._lines.empty():
            found.append(self._lines.get())
        return found

    def stop(self) -> None:
        """Call the robot's service, and wait for its answer."""
        self.process.stdin.write("stop\n")
        self.process.stdin.flush()
        self.until(lambda told: told.get("stop") == "stopped")


@contextmanager
def opened(folder: Path, thin: dict[str, float] | None = None) -> Iterator[Machines]:
    """The machines; the test is skipped where they cannot be made."""
    needed = ("ip", "unshare", "mount", "openssl")
    if os.getuid() or any(shutil.which(program) is None for program in needed):
        pytest.skip(f"network namespaces are made by root, with {', '.join(needed)}")
    if thin is not None and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("a thin cable is made of TUN interfaces, and there is no /dev/net/tun")
    found = Machines(folder, thin)
    try:
        try:
            found.open()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"this machine allows no network namespaces: {error.stderr}")
        yield found
    finally:
        found.close()
