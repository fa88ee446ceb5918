"""Policies with patterns, of SROS2, and such that no session can use; passwords; expiring certificates."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import String

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_embedded.security import Keystore, KeystoreError, PolicyError, access_control, read_policy
from ros2_embedded.security.__main__ import main
from ros2cli.cli import main as ros2

sys.path.insert(0, str(Path(__file__).parent))
from dated_certificate import date_certificate

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
PATIENCE_S = 90.0
SILENCE_S = 1.5  # how long one that must get nothing is given to get something
_HIGH, _LOW = divmod(os.getpid(), 250)
# Addresses of loopback that are this run's own: a keystore gives its members the same ports everywhere.
ROBOT, OTHER = (f"127.{place}.{_HIGH % 250}.{_LOW + 1}" for place in (1, 2))
SROS2 = """<?xml version="1.0" encoding="UTF-8"?>
<policy version="0.2.0" xmlns:xi="http://www.w3.org/2001/XInclude">
  <enclaves>
    <enclave path="/arm/robot">
      <profiles>
        <profile ns="/arm" node="robot">
          <topics publish="ALLOW"><topic>state</topic><topic>~/private</topic><topic>/rosout</topic></topics>
          <topics subscribe="ALLOW"><topic>command</topic></topics>
          <services reply="ALLOW"><service>stop</service></services>
          <actions execute="ALLOW"><action>pick</action></actions>
        </profile>
      </profiles>
    </enclave>
    <enclave path="/operator">
      <profiles>
        <profile ns="/" node="operator">
          <topics publish="ALLOW" subscribe="ALLOW"><topic>arm/state</topic></topics>
          <topics publish="DENY"><topic>arm/state</topic></topics>
          <actions call="ALLOW"><action>/arm/pick</action></actions>
        </profile>
      </profiles>
    </enclave>
  </enclaves>
</policy>
"""


@pytest.fixture
def join(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Any]]:
    """A node with a session file, in a context of its own."""
    with ExitStack() as stack:

        def start(session: Path) -> tuple[Node, SingleThreadedExecutor]:
            monkeypatch.setenv("ZENOH_SESSION_CONFIG_URI", str(session))
            context = stack.enter_context(rclpy.init(args=[], context=rclpy.Context()))
            name = session.parent.name if session.name == "session.json5" else "stranger"
            node = stack.enter_context(Node(name, context=context))
            executor = stack.enter_context(SingleThreadedExecutor(context=context))
            executor.add_node(node)
            return node, executor

        yield start


def spin(executors: list[Any], until: Callable[[], Any], patience_s: float = PATIENCE_S) -> bool:
    """Spin several executors in turn; returns whether the predicate came true."""
    end = time.monotonic() + patience_s
    while not until() and time.monotonic() < end:
        for executor in executors:
            executor.spin_once(timeout_sec=0.01)
    return bool(until())


def members(directory: Path, **options: Any) -> tuple[Keystore, Path, Path]:
    """A keystore with a robot and an operator; their session files."""
    keystore = Keystore(directory)
    keystore.create(**options)
    robot = keystore.add("robot", [ROBOT])
    return keystore, robot, keystore.add("operator", [f"{OTHER}:0"], [ROBOT])


def test_a_pattern_of_any_number_of_parts_works(tmp_path: Path, join: Callable[[Path], Any]) -> None:
    keystore, robot_file, operator_file = members(tmp_path / "k")
    file = tmp_path / "policy.yaml"
    file.write_text("robot: {publish: [/robot/**, /rosout]}\noperator: {subscribe: [/robot/**]}\n")
    assert main(["policy", str(keystore.directory), str(file)]) == 0
    (robot, first), (operator, second) = join(robot_file), join(operator_file)
    heard: list[str] = []
    for topic in ("/robot/a", "/robot/b/c", "/elsewhere"):
        operator.create_subscription(String, topic, lambda m: heard.append(m.data), 10)
    publishers = [
        robot.create_publisher(String, topic, 10) for topic in ("/robot/a", "/robot/b/c", "/elsewhere")
    ]

    def told() -> bool:
        for publisher in publishers:
            publisher.publish(String(data=publisher.topic_name))
        return {"/robot/a", "/robot/b/c"} <= set(heard)

    assert spin([first, second], told)
    assert set(heard) == {"/robot/a", "/robot/b/c"}


@pytest.mark.parametrize("name", ["/a//b", "/a/", "/a b?", "/rob*", "/a#", "/$x", "a", 7])
def test_names_that_zenoh_refuses_are_refused(tmp_path: Path, name: Any) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"robot: {{publish: [{json.dumps(name)}]}}\n")
    with pytest.raises(PolicyError, match=r"robot\.publish"):
        read_policy(file)


def test_a_session_file_that_cannot_be_opened_is_left_as_it_was(tmp_path: Path) -> None:
    keystore, robot, _ = members(tmp_path / "k")
    before = robot.read_text()
    (keystore.enclave("robot") / "cert.pem").write_text("no certificate")
    with pytest.raises(KeystoreError, match="nothing was changed"):
        keystore.set_policy({"robot": {"publish": ["/rosout"]}})
    assert robot.read_text() == before


def test_members_of_one_host_get_ports_of_their_own(tmp_path: Path) -> None:
    keystore, robot, _ = members(tmp_path / "k")
    camera = keystore.add("camera", [ROBOT])
    ports = [json.loads(file.read_text())["listen"]["endpoints"][0] for file in (robot, camera)]
    assert ports == [f"tls/{ROBOT}:7448", f"tls/{ROBOT}:7449"]
    viewer = keystore.add("viewer", [f"{OTHER}:0"], [ROBOT])
    assert json.loads(viewer.read_text())["connect"]["endpoints"] == ports
    with pytest.raises(KeystoreError, match="another port"):
        keystore.add("second", [f"{ROBOT}:7449"])
    assert not keystore.enclave("second").exists()


def test_several_processes_share_an_enclave(tmp_path: Path, join: Callable[[Path], Any]) -> None:
    """The second one cannot have the port, and both are found."""
    _, robot_file, operator_file = members(tmp_path / "k")
    (first, one), (second, two) = join(robot_file), join(robot_file)
    publishers = [node.create_publisher(String, f"/n{i}", 10) for i, node in enumerate((first, second))]
    heard: set[str] = set()

    def told(operator: Node, executors: list[Any], topics: set[str]) -> bool:
        heard.clear()
        for topic in topics:
            operator.create_subscription(String, topic, lambda m: heard.add(m.data), 10)

        def publish() -> bool:
            for publisher in publishers:
                if publisher.topic_name in topics:
                    publisher.publish(String(data=publisher.topic_name))
            return heard == topics

        return spin(executors, publish)

    operator, three = join(operator_file)
    assert told(operator, [one, two, three], {"/n0", "/n1"})


def test_sros2_policies_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "policy.xml"
    file.write_text(SROS2)
    policy = read_policy(file)
    assert policy["arm_robot"]["publish"][:3] == ["/arm/state", "/arm/robot/private", "/rosout"]
    assert "/arm/pick/_action/send_goal" in policy["arm_robot"]["serve"]
    assert "/arm/pick/_action/feedback" in policy["operator"]["subscribe"]
    assert policy["operator"]["publish"] == []
    assert "/arm/state" in policy["operator"]["subscribe"]
    keystore = Keystore(tmp_path / "k")
    keystore.create()
    for name in policy:
        keystore.add(name)
    assert main(["policy", str(keystore.directory), str(file)]) == 0
    for text, fault in (
        (SROS2.replace('publish="DENY"', 'publish="MAYBE"'), "ALLOW or DENY"),
        (SROS2.replace("<topic>arm/state</topic>", "<topic>*</topic>", 1), "one by one"),
        (SROS2.replace("<policy", "<!DOCTYPE x><policy", 1), "document type"),
        ("<policy/>", "is expected"),
        ("<policy", "policy.xml"),
    ):
        file.write_text(text)
        assert main(["policy", str(keystore.directory), str(file)]) == 1
        assert fault in capsys.readouterr().err


@pytest.mark.parametrize("denied", ["arm/*", "/arm/st*", "*", "/**"])
def test_a_denied_pattern_takes_back_the_names_that_it_covers(tmp_path: Path, denied: str) -> None:
    file = tmp_path / "policy.xml"
    deny = '<topics publish="DENY"><topic>arm/state</topic></topics>'
    assert read_policy_of(file, SROS2.replace(deny, ""))["publish"] == ["/arm/state"]
    assert read_policy_of(file, SROS2.replace(deny, deny.replace("arm/state", denied)))["publish"] == []


def read_policy_of(file: Path, text: str) -> dict[str, list[str]]:
    file.write_text(text)
    return read_policy(file)["operator"]


@pytest.mark.parametrize("encoding", ["shift_jis", "nobodys"])
def test_policies_in_unknown_encodings_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str
) -> None:
    file = tmp_path / "policy.xml"
    file.write_text(f"<?xml version='1.0' encoding='{encoding}'?><policy/>")
    with pytest.raises(PolicyError, match=r"policy\.xml"):
        read_policy(file)
    assert ros2(["security", "generate_policy", str(file)]) == 1
    assert str(file) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        (("/arm/talker", "/arm_talker"), "/arm/talker and /arm_talker are both arm_talker here"),
        (("/", "/arm"), "a path other than '/'"),
    ],
)
def test_enclaves_do_not_get_each_others_rights(tmp_path: Path, paths: tuple[str, ...], why: str) -> None:
    file = tmp_path / "policy.xml"
    enclaves = "".join(f"<enclave path='{path}'/>" for path in paths)
    file.write_text(f"<policy><enclaves>{enclaves}</enclaves></policy>")
    with pytest.raises(PolicyError, match=why):
        read_policy(file)
    file.write_text("<policy><enclaves><enclave path='/a/b'/><enclave path='/a/b/'/></enclaves></policy>")
    assert list(read_policy(file)) == ["a_b"]


def test_passwords_let_members_in_and_nobody_else(tmp_path: Path, join: Callable[[Path], Any]) -> None:
    keystore, robot_file, operator_file = members(tmp_path / "k", passwords=True)
    keystore.set_policy(
        {"robot": {"publish": ["/state", "/rosout"]}, "operator": {"subscribe": ["/state", "/rosout"]}}
    )
    robot, first = join(robot_file)
    publisher = robot.create_publisher(String, "/state", 10)

    def hears(session: Path, patience_s: float) -> bool:
        heard: list[str] = []
        node, executor = join(session)
        node.create_subscription(String, "/state", lambda m: heard.append(m.data), 10)

        def told() -> list[str]:
            publisher.publish(String(data="secret"))
            return heard

        return spin([first, executor], told, patience_s)

    assert hears(operator_file, PATIENCE_S)
    session = json.loads(operator_file.read_text())
    assert session["transport"]["link"]["tls"]["enable_mtls"] is False
    for name, word in (("operator", "wrong"), ("stranger", "guess"), (None, None)):
        session["transport"]["auth"] = {"usrpwd": {"user": name, "password": word}} if name else {}
        path = tmp_path / f"{name}.json5"
        path.write_text(json.dumps(session))
        assert not hears(path, SILENCE_S)
    assert (keystore.directory / "users.txt").stat().st_mode & 0o077 == 0
    keystore.remove("operator")
    assert "operator" not in (keystore.directory / "users.txt").read_text()


def test_a_link_ends_with_its_certificate_and_a_renewed_one_joins(
    tmp_path: Path, join: Callable[[Path], Any]
) -> None:
    keystore, robot_file, operator_file = members(tmp_path / "k")
    date_certificate(keystore, "operator", -86400.0, 6.0)
    robot, first = join(robot_file)
    _, second = join(operator_file)
    seen = lambda: "operator" in robot.get_node_names()  # noqa: E731
    assert spin([first, second], seen)
    assert spin([first, second], lambda: not seen())
    assert main(["renew", str(keystore.directory), "operator", "--days", "2"]) == 0
    _, third = join(operator_file)
    assert spin([first, third], seen)
    assert main(["renew", str(keystore.directory), "operator", "--days", "0"]) == 1
    assert main(["renew", str(keystore.directory), "nobody"]) == 1


def test_every_key_of_a_policy_is_in_zenohs_own_form() -> None:
    rules = access_control({"robot": {"publish": ["/**", "/robot/**", "/a/*/b"]}})["rules"]
    keys = [key for rule in rules for key in rule["key_exprs"]]
    assert "*/robot/*/*/**" in keys
    assert not [key for key in keys if "**/*" in key.replace("**/@adv/**", "")]
