"""`ros2 security`, and the variables of ROS 2 that ask for an enclave."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import String
from std_srvs.srv import Trigger

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros2_embedded.enclaves import EnclaveError, member_name, secured
from ros2_embedded.security import Keystore
from ros2_embedded.security.sros2_policy import read_sros2_policy
from ros2_embedded.session_config import SessionConfigError
from ros2cli.cli import main

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
PATIENCE_S = 90.0
POLICY = """
<policy version="0.2.0"><enclaves><enclave path="/arm/talker"><profiles><profile ns="/" node="talker">
  <topics publish="ALLOW"><topic>rosout</topic><topic>allowed</topic></topics>
</profile></profiles></enclave></enclaves></policy>
"""


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    """A keystore with two enclaves that meet on this machine."""
    directory = tmp_path / "keystore"
    assert main(["security", "create_keystore", str(directory)]) == 0
    for name in ("/arm/talker", "listener"):
        assert main(["security", "create_enclave", str(directory), name]) == 0
    return directory


@pytest.fixture
def join(monkeypatch: pytest.MonkeyPatch, keystore: Path) -> Any:
    """Make a node in an enclave, as ROS 2 does it."""
    contexts = []
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(keystore))

    def start(name: str, *arguments: str) -> tuple[Node, SingleThreadedExecutor]:
        context = rclpy.Context()
        rclpy.init(args=["--ros-args", *arguments], context=context)
        contexts.append(context)
        node, executor = Node(name, context=context), SingleThreadedExecutor(context=context)
        executor.add_node(node)
        return node, executor

    yield start
    for context in contexts:
        context.try_shutdown()


def until(condition: Callable[[], Any], *executors: SingleThreadedExecutor) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        for executor in executors:
            executor.spin_once(timeout_sec=0.01)


@needs_openssl
def test_enclaves_meet_and_keep_to_their_permissions(keystore: Path, join: Any, tmp_path: Path) -> None:
    policy = tmp_path / "policy.xml"
    policy.write_text(POLICY)
    assert main(["security", "create_permission", str(keystore), "/arm/talker", str(policy)]) == 0
    talker, talks = join("talker", "--enclave", "/arm/talker")
    listener, listens = join("listener", "--enclave", "/listener")
    heard: list[str] = []
    for topic in ("allowed", "forbidden"):
        listener.create_subscription(String, topic, lambda message: heard.append(message.data), 10)
    publishers = [talker.create_publisher(String, topic, 10) for topic in ("forbidden", "allowed")]

    def told() -> bool:
        for publisher in publishers:
            publisher.publish(String(data=publisher.topic_name))
        return "/allowed" in heard

    until(told, talks, listens)
    assert set(heard) == {"/allowed"}
    seen = listener.get_node_names_and_namespaces_with_enclaves()
    assert ("talker", "/", "/arm/talker") in seen
    # The listener, which no policy names, may do everything as before.
    listener.create_service(Trigger, "serve", lambda request, response: response)
    assert Keystore(keystore).policy()["listener"]["serve"] == ["/**"]


@needs_openssl
def test_a_process_without_its_enclave_gets_no_session(
    keystore: Path, join: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SessionConfigError, match="no enclave /nobody: ros2 security create_enclave"):
        join("lost", "--enclave", "/nobody")
    with pytest.raises(SessionConfigError, match="no enclave is named: pass --ros-args --enclave"):
        join("lost")
    monkeypatch.setenv("ROS_SECURITY_ENCLAVE_OVERRIDE", "/listener")
    assert join("found")[0].get_name() == "found"


def test_security_that_is_not_enforced_warns(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    asked = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_KEYSTORE": str(tmp_path)}
    assert secured(asked, "/x") is asked
    assert "this session is not secured" in caplog.text
    with pytest.raises(EnclaveError, match="needs ROS_SECURITY_KEYSTORE"):
        secured({"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"})
    chosen = {**asked, "ZENOH_SESSION_CONFIG_URI": "file.json5", "ROS_SECURITY_STRATEGY": "Enforce"}
    assert secured(chosen) is chosen
    assert secured({"ROS_SECURITY_STRATEGY": "Enforce"}) == {"ROS_SECURITY_STRATEGY": "Enforce"}
    assert member_name("/arm/talker") == "arm_talker"


@needs_openssl
def test_artifacts_and_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory, policy = tmp_path / "made", tmp_path / "policy.xml"
    policy.write_text(POLICY)
    command = ["security", "generate_artifacts", "-k", str(directory), "-e", "/one", "-p", str(policy)]
    assert main(command) == 0
    assert main(command) == 0, "what is there stays"
    capsys.readouterr()
    assert main(["security", "list_enclaves", str(directory)]) == 0
    assert capsys.readouterr().out.split() == ["/arm_talker", "/one"]
    assert main(["security", "create_permission", str(directory), "/other", str(policy)]) == 1
    assert "has no enclave /other; it has: arm_talker" in capsys.readouterr().err
    assert main(["security", "create_keystore", str(directory)]) == 1
    assert main(["security", "list_enclaves", str(tmp_path / "none")]) == 1


def test_a_policy_of_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.xml"
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", "--enclave", "/arm/talker"], context=context)
    node = Node("talker", namespace="/arm", context=context)
    node.create_publisher(String, "chatter", 10)
    node.create_publisher(String, "~/own", 10)
    node.create_subscription(String, "/elsewhere", lambda message: None, 10)
    node.create_client(Trigger, "ask")
    try:
        for _ in range(2):
            assert main(["security", "generate_policy", str(path)]) == 0
        assert main(["security", "generate_policy", str(tmp_path / "nowhere" / "policy.xml")]) == 1
        assert "nowhere/policy.xml: No such file or directory" in capsys.readouterr().err
    finally:
        node.destroy_node()
        context.try_shutdown()
    rights = read_sros2_policy(path)["arm_talker"]
    assert {"/arm/chatter", "/arm/talker/own"} <= set(rights["publish"])
    assert "/elsewhere" in rights["subscribe"]
    assert rights["call"] == ["/arm/ask"]
    assert "/arm/talker/get_parameters" in rights["serve"]
    assert path.read_text().count("<topic>chatter</topic>") == 1
    assert "<topic>~own</topic>" in path.read_text()
