"""A robot behind its router, an operator on another machine, and a router between that both reach.

The machines are network namespaces, each with a folder of its own for the Unix sockets of its graph.
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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ros2_embedded.security import Keystore

PEERS = Path(__file__).parent / "machine_peers.py"
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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"openral{os.getpid()}"
        self._stack = ExitStack()
        self.keystore = Keystore(folder / "keystore")

    def open(self) -> None:
        self._namespace("hub")
        for number in (ROBOT, OPERATOR):
            machine, cable = self._namespace(str(number)), f"w{os.getpid()}x{number}"
            hub = f"{self.name}hub"
            ip(
                "link",
                "add",
                f"{cable}h",
                "netns",
                hub,
                "type",
                "veth",
                "peer",
                f"{cable}m",
                "netns",
                machine,
            )
            for namespace, end, host in ((hub, f"{cable}h", 1), (machine, f"{cable}m", 2)):
                ip("-n", namespace, "addr", "add", f"10.99.{number}.{host}/24", "dev", end)
                ip("-n", namespace, "link", "set", end, "up")
        self.keystore.create()
        hosts = [f"{HUB.format(number)}:{PORT}" for number in (ROBOT, OPERATOR)]
        self.keystore.add("hub", hosts)
        for name, host in zip(("robot", "operator"), hosts, strict=True):
            self._without_shared_memory(self.keystore.add(name, connect=[host]))

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
        end = f"w{os.getpid()}x{ROBOT}h"
        ip("-n", f"{self.name}hub", "link", "set", end, "up" if plugged else "down")

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


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    needed = ("ip", "unshare", "mount", "openssl")
    if os.getuid() or any(shutil.which(program) is None for program in needed):
        pytest.skip(f"network namespaces are made by root, with {', '.join(needed)}")
    found = Machines(tmp_path_factory.mktemp("machines"))
    try:
        try:
            found.open()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"this machine allows no network namespaces: {error.stderr}")
        yield found
    finally:
        found.close()


class World:
    """A robot and an operator, joined by three routers."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        self.routers = [
            machines.router("hub", "hub"),
            machines.router(ROBOT, "robot", "--join", "--image-hz", "2"),
        ]
        self.robot = machines.run(ROBOT, str(PEERS), "robot")
        # A session of the robot's machine that was there before, and one beside it that hears it.
        self.beside = Heard(machines.run(ROBOT, str(PEERS), "operator"))
        self.routers.append(machines.router(OPERATOR, "operator", "--join"))
        self.operator = Heard(machines.run(OPERATOR, str(PEERS), "operator"))
        self.says("ready")
        self.operator.until(lambda told: told.get("state") == "ready")

    def says(self, state: str) -> None:
        self.robot.stdin.write(f"{state}\n")
        self.robot.stdin.flush()


@pytest.fixture(scope="module")
def world(machines: Machines) -> World:
    return World(machines)


def test_an_operator_hears_and_commands_a_robot_of_another_machine(world: World) -> None:
    world.operator.until(lambda told: "tick" in told)
    world.operator.stop()


def test_fewer_pictures_leave_the_machine_than_are_made(world: World) -> None:
    there, here = (
        len([1 for told in heard.during(5.0) if "image" in told]) for heard in (world.operator, world.beside)
    )
    assert 1 <= there <= 12  # two a second, and what was on its way
    assert here > 2 * there


def test_a_robot_goes_on_without_its_cable_and_is_known_again_with_it(world: World) -> None:
    world.machines.cable(plugged=False)
    world.operator.during(1.0)
    world.says("working alone")
    world.beside.until(lambda told: told.get("state") == "working alone")
    # Longer than the ten seconds after which Zenoh takes a silent link for dead.
    apart = world.operator.during(14.0)
    assert apart == []
    assert len([1 for told in world.beside.forget() if "tick" in told]) > 50
    world.machines.cable(plugged=True)
    world.operator.until(lambda told: told.get("state") == "working alone")
    world.operator.stop()


def test_a_router_may_die_and_come_back(world: World) -> None:
    hub = world.routers.pop(0)
    hub.kill()
    hub.wait()
    world.says("alone again")
    world.beside.until(lambda told: told.get("state") == "alone again")
    world.routers.insert(0, world.machines.router("hub", "hub"))
    world.operator.until(lambda told: told.get("state") == "alone again")
    world.operator.stop()


def test_nobody_without_a_certificate_of_the_keystore_hears_anything(world: World, tmp_path: Path) -> None:
    host = f"{HUB.format(OPERATOR)}:{PORT}"
    other = Keystore(tmp_path / "another")
    other.create()
    session = other.add("operator", connect=[host])
    strangers = [
        Heard(world.machines.run(OPERATOR, str(PEERS), "operator", **environment))
        for environment in (
            {"ZENOH_SESSION_CONFIG_URI": str(session)},
            {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF", "ROS_STATIC_PEERS": host},
        )
    ]
    world.operator.stop()
    assert [stranger.during(SILENCE_S) for stranger in strangers] == [[], []]
    assert any("tick" in told for told in world.operator.forget())


def test_a_policy_says_what_passes_between_machines_and_not_what_passes_on_one(
    world: World, tmp_path: Path
) -> None:
    everything = {action: ["/**"] for action in ("publish", "subscribe", "serve", "call")}
    robot = {"publish": ["/arm/tick", "/rosout", "/parameter_events"], "serve": ["/arm/stop"]}
    world.machines.keystore.set_policy({"hub": everything, "operator": everything, "robot": robot})
    for router in world.routers:
        router.kill()
        router.wait()
    machines = world.machines
    machines.router("hub", "hub")
    machines.router(ROBOT, "robot", "--join")
    machines.router(OPERATOR, "operator", "--join")
    world.operator.forget()
    world.operator.until(lambda told: "tick" in told)
    world.says("for this machine alone")
    world.beside.until(lambda told: told.get("state") == "for this machine alone")
    world.operator.stop()
    heard = world.operator.during(SILENCE_S)
    assert any("tick" in told for told in heard)
    assert [told for told in heard if "tick" not in told] == []
