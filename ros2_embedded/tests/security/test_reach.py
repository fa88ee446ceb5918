"""Who reaches a session: another machine, played by a network namespace, and another user of this one."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ros2_embedded.local_links import LocalLinkError, joining
from ros2_embedded.security import Keystore
from ros2cli.cli import main as ros2

PEERS = Path(__file__).parent / "reach_peers.py"
HOST, OUTSIDE = "10.99.7.1", "10.99.7.2"
PATIENCE_S = 90.0
NOTHING = {"seen": 0, "example": []}
"""What an attacker says who saw nothing."""
NOBODY = 65534
OLD = {
    "mode": "peer",
    "listen": {"endpoints": ["tcp/127.0.0.1:0"]},
    "scouting": {"multicast": {"enabled": True, "interface": "lo"}},
    "timestamping": {"enabled": True},
}
"""A session that listens on loopback and searches there, as Zenoh alone would be set up for one machine."""


def _ip(*words: str) -> bool:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def machines() -> Iterator[tuple[str, str]]:
    """Names of two namespaces joined by a cable: this machine and another one."""
    if os.getuid() or shutil.which("ip") is None:
        pytest.skip("network namespaces are made by root with ip, of iproute2")
    near, far = (f"openral{os.getpid()}{side}" for side in "ab")
    try:
        if not (_ip("netns", "add", near) and _ip("netns", "add", far)):
            pytest.skip("this machine allows no network namespaces")
        end = f"v{os.getpid()}"
        assert _ip("link", "add", f"{end}a", "netns", near, "type", "veth", "peer", f"{end}b", "netns", far)
        for name, device, address in ((near, f"{end}a", HOST), (far, f"{end}b", OUTSIDE)):
            assert _ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            for link in (device, "lo"):
                assert _ip("-n", name, "link", "set", link, "up")
            assert _ip("-n", name, "link", "set", "lo", "multicast", "on")
            assert _ip("-n", name, "route", "add", "224.0.0.0/4", "dev", device)
        yield near, far
    finally:
        _ip("netns", "del", near)
        _ip("netns", "del", far)


class Victim:
    """A node in a namespace; `heard` are the commands that it took. With another role, what that is."""

    def __init__(
        self, namespace: str, environment: dict[str, str], role: Sequence[str] = ("victim",)
    ) -> None:
        """Start it and wait for it."""
        words = ["ip", "netns", "exec", namespace] if namespace else []
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("ROS_", "ZENOH_"))}
        domain = {"ROS_DOMAIN_ID": os.environ["ROS_DOMAIN_ID"]}
        self.process = subprocess.Popen(
            [*words, sys.executable, str(PEERS), *role],
            env={**clean, **domain, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE_S)[0], "the victim did not start"
        self.command_key = json.loads(self.process.stdout.readline())

    def heard(self) -> list[str]:
        """End it; return what it was told."""
        output, _ = self.process.communicate("", timeout=PATIENCE_S)
        return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def start() -> Iterator[Callable[..., Victim]]:
    """Starts victims, and ends them."""
    with ExitStack() as stack:

        def begin(namespace: str, *role: str, **environment: str) -> Victim:
            victim = Victim(namespace, environment, role or ("victim",))
            stack.callback(victim.process.wait)
            stack.callback(victim.process.kill)
            return victim

        yield begin


def attack(
    namespace: str, means: str, own: str, target: str, key: str, *ports: str, user: int = 0
) -> dict[str, Any]:
    """Run an attacker; return what it said."""
    words = ["ip", "netns", "exec", namespace] if namespace else []
    done = subprocess.run(
        [*words, sys.executable, str(PEERS), "attacker", str(user), means, own, target, key, *ports],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def listening(namespace: str) -> list[str]:
    """Addresses on which programs of a namespace listen, TCP and UDP."""
    words = ["ip", "netns", "exec", namespace, sys.executable, "-c"]
    code = (
        "import json, pathlib\n"
        "rows = [l.split() for t in ('tcp', 'udp', 'tcp6', 'udp6')"
        " for l in pathlib.Path('/proc/net/' + t).read_text().splitlines()[1:]]\n"
        "print(json.dumps([r[1] for r in rows if r[3] in ('0A', '07')]))"
    )
    done = subprocess.run([*words, code], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def ports(addresses: list[str]) -> list[str]:
    """The ports of addresses such as 0100007F:1D17."""
    return sorted({str(int(address.rpartition(":")[2], 16)) for address in addresses})


CLOSED = {
    "the defaults": {},
    "localhost": {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
    "localhost only": {"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
    "off": {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"},
}


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param(value, marks=[] if name == "the defaults" else pytest.mark.slow, id=name)
        for name, value in CLOSED.items()
    ],
)
def test_another_machine_gets_nothing(
    machines: tuple[str, str], start: Callable[..., Victim], environment: dict[str, str]
) -> None:
    near, far = machines
    victim = start(near, **environment)
    sockets = listening(near)
    assert all(re.fullmatch(r"[0-9A-F]{6}7F:[0-9A-F]{4}", address) for address in sockets), sockets
    assert attack(far, "all", OUTSIDE, HOST, victim.command_key, *ports(sockets)) == NOTHING
    assert victim.heard() == []


def test_the_attack_works_where_nothing_stops_it(
    machines: tuple[str, str], start: Callable[..., Victim], tmp_path: Path
) -> None:
    """A forged Hello takes a session over that searches on loopback only, and is not told to stay there."""
    file = tmp_path / "session.json5"
    file.write_text(json.dumps(OLD))
    victim = start(machines[0], ZENOH_SESSION_CONFIG_URI=str(file))
    assert attack(machines[1], "hello", OUTSIDE, HOST, victim.command_key)["seen"] > 0
    assert "attack" in victim.heard()


@pytest.mark.slow
def test_a_search_on_loopback_lets_nothing_in_from_elsewhere(
    machines: tuple[str, str], start: Callable[..., Victim]
) -> None:
    """Whoever wants multicast opens a UDP port to all: the forged Hello makes a link, and nothing passes."""
    search = 'scouting/multicast/enabled=true;scouting/multicast/interface="lo"'
    victim = start(machines[0], ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST", ZENOH_CONFIG_OVERRIDE=search)
    assert attack(machines[1], "hello", OUTSIDE, HOST, victim.command_key) == NOTHING
    assert victim.heard() == []


def test_subnet_without_a_keystore_is_open(machines: tuple[str, str], start: Callable[..., Victim]) -> None:
    victim = start(machines[0], ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET")
    assert attack(machines[1], "search", OUTSIDE, HOST, victim.command_key)["seen"] > 0
    assert "attack" in victim.heard()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_subnet_with_a_keystore_is_not(
    machines: tuple[str, str], start: Callable[..., Victim], tmp_path: Path
) -> None:
    keystore = Keystore(tmp_path / "keystore")
    keystore.create()
    session = keystore.add("robot", [f"{HOST}:7448"])
    victim = start(machines[0], ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET", ZENOH_SESSION_CONFIG_URI=str(session))
    open_ports = ports(listening(machines[0]))
    assert "7448" in open_ports
    assert attack(machines[1], "all", OUTSIDE, HOST, victim.command_key, *open_ports) == NOTHING
    assert victim.heard() == []


@pytest.mark.parametrize(
    ("user", "environment", "joins"),
    [
        (0, {}, True),
        (NOBODY, {}, False),
        (NOBODY, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, True),
    ],
    ids=["of the same user", "of another user", "of another user, on localhost"],
)
def test_whose_router_is_joined(
    machines: tuple[str, str],
    start: Callable[..., Victim],
    user: int,
    environment: dict[str, str],
    joins: bool,
) -> None:
    near, _ = machines
    start(near, "router", str(user))
    victim = start(near, **environment)
    seen = attack(near, "connect", "127.0.0.1", "127.0.0.1", victim.command_key, "7447")["seen"]
    assert (seen > 0) is joins
    assert ("attack" in victim.heard()) is joins


def _socket_of(victim: Victim) -> Path:
    folder = Path(f"/tmp/ros2_embedded-{os.getuid()}") / os.environ["ROS_DOMAIN_ID"]
    (found,) = folder.glob(f"{victim.process.pid}-*.sock")
    return found


def test_another_user_gets_nothing(start: Callable[..., Victim]) -> None:
    if os.getuid():
        pytest.skip("only root can play another user")
    victim = start("")
    path = str(_socket_of(victim))
    # The same attack by the same user shows that it works.
    assert attack("", "socket", "127.0.0.1", path, victim.command_key)["seen"] > 0
    stranger = attack("", "socket", "127.0.0.1", path, victim.command_key, user=NOBODY)
    assert stranger == NOTHING
    assert _socket_of(victim).stat().st_mode & 0o077 == 0
    commands = victim.heard()
    assert 0 < len(commands) <= 60  # those of the same user


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / f"ros2_embedded-{os.getuid()}"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.raises(LocalLinkError, match="remove it"), joining(3, tmp_path):
        pass
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(LocalLinkError, match="remove it"), joining(3, tmp_path):
        pass


def test_a_command_names_the_folder_that_it_cannot_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ros2_embedded.local_links._user_folder", lambda root: tmp_path)
    tmp_path.chmod(0o755)
    assert ros2(["topic", "list", "--no-daemon"]) == 1
    assert f"{tmp_path} must be a folder that user" in capsys.readouterr().err
    tmp_path.chmod(0o700)
    (tmp_path / os.environ["ROS_DOMAIN_ID"] / "opening").mkdir(parents=True)
    assert ros2(["topic", "list", "--no-daemon"]) == 1
    assert "no socket for this ROS session can be made" in capsys.readouterr().err


def test_sockets_of_killed_processes_are_removed(start: Callable[..., Victim]) -> None:
    victim = start("")
    left = _socket_of(victim)
    victim.process.kill()
    victim.process.wait()
    assert left.exists()
    start("")
    assert not left.exists()
    assert not left.with_name(left.name + ".lock").exists()


def test_a_session_whose_lock_a_cleaner_of_tmp_removed_stays_reachable() -> None:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path has at most 107 letters
        root = Path(folder)
        with joining(3, root) as first:
            path = Path(first.listen[0].partition("/")[2])
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(path))
            listener.listen(1)
        with listener:
            for _ in range(3):  # the later ones find the queue of its connections full
                with joining(3, root) as later:
                    assert [endpoint.partition("#")[0] for endpoint in later.connect] == list(first.listen)
                assert path.exists()
        with joining(3, root) as last:
            assert not last.connect
            assert not path.exists()


def test_a_session_that_closes_leaves_no_socket_of_a_killed_one(start: Callable[..., Victim]) -> None:
    code = (
        "import sys, rclpy\nrclpy.init(args=[])\nnode = rclpy.create_node('closes')\nprint(flush=True)\n"
        "sys.stdin.read()\nnode.destroy_node()\nrclpy.shutdown()\n"
    )
    victim = start("")
    closes = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert closes.stdout is not None
        closes.stdout.readline()
        left = _socket_of(victim)
        victim.process.kill()
        victim.process.wait()
        assert left.exists()
        closes.communicate(b"", timeout=PATIENCE_S)
        assert list(left.parent.glob(f"{left.name}*")) == []
        assert list(left.parent.glob(f"{closes.pid}-*")) == []
    finally:
        closes.kill()
        closes.wait()


@pytest.mark.slow
def test_sessions_that_open_at_once_all_meet(start: Callable[..., Victim]) -> None:
    code = (
        "import sys, time, rclpy\nfrom rclpy.node import Node\n"
        "rclpy.init(args=[])\nnode = Node('n' + sys.argv[1])\n"
        "met = all(node.wait_for_node(f'/n{i}', 60.0) for i in range(8))\n"
        "print(met, flush=True)\nsys.stdin.read()\n"
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", code, str(i)], **pipes) for i in range(8)]
    end = time.monotonic() + PATIENCE_S
    try:
        for process in processes:
            assert select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]
            assert process.stdout is not None
            assert process.stdout.readline() == "True\n"
    finally:
        for process in processes:
            process.kill()
            process.wait()
