"""Encrypted sessions on two loopback addresses: members talk, others get nothing, policies are kept."""

from __future__ import annotations

import json
import shutil
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros2_embedded.certificate_dates import Certificate
from ros2_embedded.security import Keystore, KeystoreError, PolicyError, read_policy
from ros2_embedded.security.__main__ import main

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
PATIENCE_S = 90.0
SILENCE_S = 1.5  # how long one that must get nothing is given to get something
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ROBOT, OTHER = "127.0.0.1", "127.0.0.2"


def free_port() -> int:
    """A port nobody uses now."""
    with socket.socket() as probe:
        probe.bind((ROBOT, 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def keystore(tmp_path: Path) -> Keystore:
    """A robot on one address; an operator and a viewer on another."""
    keystore = Keystore(tmp_path / "keystore")
    keystore.create()
    robot = f"{ROBOT}:{free_port()}"
    keystore.add("robot", [robot])
    for name in ("operator", "viewer"):
        keystore.add(name, [f"{OTHER}:0"], [robot])
    return keystore


@pytest.fixture
def join(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str, Path], tuple[Node, SingleThreadedExecutor]]]:
    """A node with a session file, in a context of its own."""
    with ExitStack() as stack:

        def start(name: str, session: Path) -> tuple[Node, SingleThreadedExecutor]:
            monkeypatch.setenv("ZENOH_SESSION_CONFIG_URI", str(session))
            context = stack.enter_context(rclpy.init(args=[], context=rclpy.Context()))
            node = stack.enter_context(Node(name, context=context))
            executor = stack.enter_context(SingleThreadedExecutor(context=context))
            executor.add_node(node)
            return node, executor

        yield start


def spin(
    executors: list[SingleThreadedExecutor], until: Callable[[], Any], patience: float = PATIENCE_S
) -> bool:
    """Spin several executors in turn; returns whether the predicate came true."""
    end = time.monotonic() + patience
    while not until() and time.monotonic() < end:
        for executor in executors:
            executor.spin_once(timeout_sec=0.01)
    return bool(until())


def test_members_talk(keystore: Keystore, join: Callable[..., Any]) -> None:
    robot, first = join("robot", keystore.enclave("robot") / "session.json5")
    operator, second = join("operator", keystore.enclave("operator") / "session.json5")
    seen: list[str] = []
    operator.create_subscription(String, "/state", lambda m: seen.append(m.data), LATCHED)
    robot.create_publisher(String, "/state", LATCHED).publish(String(data="ready"))
    assert spin([first, second], lambda: seen == ["ready"])


@pytest.mark.parametrize("kind", ["no certificate", "another authority", "plain tcp"])
def test_strangers_get_nothing(
    keystore: Keystore, join: Callable[..., Any], tmp_path: Path, kind: str
) -> None:
    robot, first = join("robot", keystore.enclave("robot") / "session.json5")
    robot.create_publisher(String, "/state", LATCHED).publish(String(data="secret"))
    session = json.loads((keystore.enclave("operator") / "session.json5").read_text())
    tls = session["transport"]["link"]["tls"]
    if kind == "no certificate":
        for name in ("connect_private_key", "connect_certificate"):
            del tls[name]
        tls["enable_mtls"] = False
    elif kind == "another authority":
        foreign = Keystore(tmp_path / "foreign")
        foreign.create()
        foreign.add("operator", [OTHER])
        for name, file in (("private_key", "key.pem"), ("certificate", "cert.pem")):
            tls[f"connect_{name}"] = str(foreign.enclave("operator") / file)
    else:
        session["connect"]["endpoints"] = [
            endpoint.replace("tls/", "tcp/") for endpoint in session["connect"]["endpoints"]
        ]
        session["listen"]["endpoints"] = [f"tcp/{OTHER}:0"]
        session["transport"]["link"]["protocols"] = ["tcp"]
    path = tmp_path / "stranger.json5"
    path.write_text(json.dumps(session))
    stranger, second = join("stranger", path)
    seen: list[str] = []
    stranger.create_subscription(String, "/state", lambda m: seen.append(m.data), LATCHED)
    assert not spin([first, second], lambda: seen, SILENCE_S)
    assert "robot" not in stranger.get_node_names()
    assert "stranger" not in robot.get_node_names()


def test_policies_are_kept(keystore: Keystore, join: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "robot: {publish: [/state, /rosout, /parameter_events], subscribe: [/command], serve: [/stop]}\n"
        "operator: {publish: [/command], subscribe: [/state], call: [/stop]}\n"
        "viewer: {subscribe: [/state]}\n"
    )
    assert main(["policy", str(keystore.directory), str(file)]) == 0
    robot, first = join("robot", keystore.enclave("robot") / "session.json5")
    operator, second = join("operator", keystore.enclave("operator") / "session.json5")
    viewer, third = join("viewer", keystore.enclave("viewer") / "session.json5")
    executors = [first, second, third]
    states: list[str] = []
    commands: list[str] = []
    calls: list[Any] = []

    def stop(request: Any, response: Any) -> Any:
        calls.append(request)
        return response

    robot.create_service(Trigger, "/stop", stop)
    robot.create_subscription(String, "/command", lambda m: commands.append(m.data), 10)
    viewer.create_subscription(String, "/state", lambda m: states.append(m.data), LATCHED)
    robot.create_publisher(String, "/state", LATCHED).publish(String(data="ready"))
    assert spin(executors, lambda: states == ["ready"])
    forbidden = viewer.create_publisher(String, "/command", 10)
    allowed = operator.create_publisher(String, "/command", 10)
    assert spin(executors, lambda: robot.count_publishers("/command") == 2)
    refused = viewer.create_client(Trigger, "/stop").call_async(Trigger.Request())

    def command() -> bool:
        forbidden.publish(String(data="from viewer"))
        allowed.publish(String(data="from operator"))
        return len(commands) > 5

    assert spin(executors, command)
    assert set(commands) == {"from operator"}
    assert (calls, refused.done()) == ([], False)
    answer = operator.create_client(Trigger, "/stop").call_async(Trigger.Request())
    assert spin(executors, answer.done)
    assert len(calls) == 1


@pytest.mark.parametrize("name", ["robot\n", "late\n", "", "ro bot", "../robot"])
def test_what_is_no_name_is_refused(keystore: Keystore, name: str) -> None:
    before = keystore.enclaves()
    with pytest.raises(KeystoreError, match="no enclave name"):
        keystore.add(name)
    with pytest.raises(KeystoreError, match="is no address"):
        keystore.add("late", ["robot.local\n"])
    assert keystore.enclaves() == before


def test_private_keys_are_private(keystore: Keystore) -> None:
    for key in (keystore.directory / "ca.key", keystore.enclave("robot") / "key.pem"):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_mistakes_are_named(keystore: Keystore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeystoreError, match="already"):
        keystore.create()
    with pytest.raises(KeystoreError, match="exists"):
        keystore.add("robot")
    with pytest.raises(KeystoreError, match="no enclave name"):
        keystore.add("../robot")
    with pytest.raises(KeystoreError, match="create the keystore first"):
        Keystore(tmp_path / "empty").add("robot")
    with pytest.raises(KeystoreError, match="stranger"):
        keystore.set_policy({"stranger": {}})
    file = tmp_path / "policy.yaml"
    for text in ("- robot", "robot: {fly: [/sky]}", "robot: {publish: [state]}"):
        file.write_text(text)
        with pytest.raises(PolicyError, match=str(file)):
            read_policy(file)
    assert main(["create", str(keystore.directory)]) == 1
    assert "already" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["999.1.1.1", "127.0.0.1:99999", "robot arm", "10.0.0.5:x", "", "-a:1"])
@pytest.mark.parametrize("option", ["--listen", "--connect"])
def test_what_is_no_address_is_refused_and_leaves_nothing(
    keystore: Keystore, capsys: pytest.CaptureFixture[str], option: str, address: str
) -> None:
    assert main(["add", str(keystore.directory), "late", f"{option}={address}"]) == 1
    assert f"{address!r} is no address" in capsys.readouterr().err
    assert not keystore.enclave("late").exists()


def test_an_enclave_that_could_not_be_made_is_not_in_the_way(keystore: Keystore) -> None:
    assert main(["add", str(keystore.directory), "late", "--days", "0"]) == 1
    assert main(["add", str(keystore.directory), "late", "--days", "1"]) == 0


def test_who_is_removed_and_not_shut_out_is_named(
    keystore: Keystore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    until = Certificate.read(keystore.enclave("viewer") / "cert.pem").until
    assert main(["remove", str(keystore.directory), "viewer"]) == 0
    assert f"not shut out: whoever has a copy of its key and certificate joins until {until}" in (
        capsys.readouterr().out
    )
    other = Keystore(tmp_path / "passwords")
    other.create(passwords=True)
    other.add("viewer")
    assert main(["remove", str(other.directory), "viewer"]) == 0
    assert "refuse its password" in capsys.readouterr().out


@pytest.mark.parametrize("edit", ["// mine\n{}", "[]", "{}", '{"listen": 5}', '{"listen": {"endpoints": 5}}'])
def test_a_session_file_that_was_edited_is_named(
    keystore: Keystore, tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: str
) -> None:
    path = keystore.enclave("robot") / "session.json5"
    path.write_text(edit)
    assert main(["add", str(keystore.directory), "third", "--connect", "127.0.0.1"]) == 1
    assert str(path) in capsys.readouterr().err
    if edit[0] != "{":
        policy = tmp_path / "policy.yaml"
        policy.write_text("robot: {publish: [/rosout]}\n")
        assert main(["policy", str(keystore.directory), str(policy)]) == 1
        assert str(path) in capsys.readouterr().err


def test_a_place_for_no_keystore_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "file").write_text("")
    for place in (file, Path("/proc/keystore")):
        assert main(["create", str(place)]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"{place}: ")
        assert said.count("\n") == 1


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["create", str(tmp_path / "k")]) == 0
    assert (
        main(["add", str(tmp_path / "k"), "arm", "--listen", "10.0.0.5", "--connect", "10.0.0.1:7000"]) == 0
    )
    path = Path(capsys.readouterr().out.strip().partition("=")[2])
    session = json.loads(path.read_text())
    assert session["listen"]["endpoints"] == ["tls/10.0.0.5:7448", "tls/10.0.0.5:0"]
    assert session["connect"]["endpoints"] == ["tls/10.0.0.1:7000", "tls/10.0.0.5:7448"]
