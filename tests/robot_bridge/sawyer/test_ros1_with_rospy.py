"""The client of ROS 1 and Debian's real roscore and rospy: both ways, checksums, a master that dies and comes back."""

from __future__ import annotations

import errno
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from real_ros1 import Roscore

from openral_robot_bridge.intera import DEFINITIONS
from openral_robot_bridge.ros1.master import Ros1Master
from openral_robot_bridge.ros1.messages import MessageTypes, Ros1Error
from openral_robot_bridge.ros1.node import Ros1Node
from openral_robot_bridge.ros1.rpc import call
from openral_robot_bridge.ros1.tcpros import CUT_S, encode_header

TYPES = MessageTypes(DEFINITIONS)
RETHINKS = {
    "JointCommand": "c8c85922d297da6209a089a906207e5d",
    "JointLimits": "c4c445eb2c9324525a704c84ca1e7598",
    "RobotAssemblyState": "df79ce5f75a6b23626e9fcdf1cc4d298",
    "CollisionDetectionState": "7bde38c182b4d08fdc0635b116f65d04",
    "IOComponentCommand": "ede95ba2953dc221dc82cac20f697530",
    "IODeviceStatus": "0d0c97a2d700848e7ad46e09a77cf896",
}
"""Checksums in code that Rethink's own definitions were compiled to."""
LISTENER = """
import json, sys, rospy
from genpy.dynamic import generate_dynamic
kind = generate_dynamic("intera_core_msgs/JointCommand", sys.stdin.readline().encode().decode("unicode_escape"))
kind = kind["intera_core_msgs/JointCommand"]
rospy.init_node("listener")
def heard(m):
    print(json.dumps([m.header.seq, m.mode, m.names, m.velocity]))
rospy.Subscriber("/command", kind, heard)
print(kind._md5sum)
rospy.spin()
"""
TALKER = """
import rospy
from sensor_msgs.msg import JointState
rospy.init_node("talker", anonymous=True)
out = rospy.Publisher("/states", JointState, queue_size=1)
rate, n = rospy.Rate(100), 0
while not rospy.is_shutdown():
    out.publish(JointState(name=["right_j0"], position=[n], velocity=[0.5], effort=[]))
    n += 1
    rate.sleep()
"""


@pytest.fixture
def node(roscore: Roscore) -> Iterator[Ros1Node]:
    made = Ros1Node("tested", roscore.address, TYPES)
    yield made
    made.close()


@pytest.fixture
def run(roscore: Roscore) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(script: str) -> subprocess.Popen[str]:
        started.append(roscore.rospy(script))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def until(what: Callable[[], Any], name: str, patience_s: float = 30.0) -> None:
    deadline = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < deadline, f"{name} did not come within {patience_s:g} s"
        time.sleep(0.02)


def command(number: int) -> Any:
    header = TYPES.header(time.time())
    header.seq = number
    empty = np.zeros(0)
    return TYPES.make(
        "intera_core_msgs/JointCommand",
        header=header,
        mode=2,
        names=["right_j0", "right_j6"],
        position=empty,
        velocity=np.array([0.25, -0.5]),
        acceleration=empty,
        effort=empty,
    )


@pytest.mark.parametrize("name", RETHINKS)
def test_definitions_have_the_checksums_of_rethinks(name: str) -> None:
    assert TYPES.definition(f"intera_core_msgs/{name}")[1] == RETHINKS[name]


def test_rospy_hears_what_is_published_and_computes_the_same_checksum(node: Ros1Node, run: Any) -> None:
    out = node.publish("/command", "intera_core_msgs/JointCommand")
    listener = run(LISTENER)
    definition, checksum = TYPES.definition("intera_core_msgs/JointCommand")
    listener.stdin.write(definition.encode("unicode_escape").decode() + "\n")
    listener.stdin.flush()
    assert listener.stdout.readline().strip() == checksum
    until(lambda: out.listeners == 1, "the listener")
    for number in range(200):
        out.publish(command(number))
        time.sleep(0.002)
    heard = [json.loads(listener.stdout.readline()) for _ in range(150)]
    # rospy numbers what it hears from a publisher's own headers.
    numbers = [row[0] for row in heard]
    assert numbers == sorted(numbers)
    assert all(row[1:] == [2, ["right_j0", "right_j6"], [0.25, -0.5]] for row in heard)
    listener.kill()
    until(lambda: out.listeners == 0, "the end of the listener")


def test_what_rospy_publishes_is_heard_in_order(node: Ros1Node, run: Any) -> None:
    heard: list[float] = []
    node.subscribe("/states", "sensor_msgs/JointState", lambda m: heard.append(float(m.position[0])))
    run(TALKER)
    until(lambda: len(heard) > 100, "a hundred states")
    assert (np.diff(heard[:100]) > 0).all()  # rospy leaves out what it has no time for


def test_a_type_that_nobody_defined_is_read_by_its_publishers_definition(
    roscore: Roscore, node: Ros1Node, run: Any
) -> None:
    heard: list[Any] = []
    script = TALKER.replace("/states", "/made_up")
    script = script.replace("from sensor_msgs.msg import JointState\n", MADE_UP)
    node.subscribe("/made_up", "made_up_msgs/JointState", heard.append)
    run(script)
    until(lambda: heard, "a message")
    assert (heard[0].name, heard[0].velocity.tolist()) == (["right_j0"], [0.5])


MADE_UP = """
from genpy.dynamic import generate_dynamic
text = "string[] name\\nfloat64[] position\\nfloat64[] velocity\\nfloat64[] effort\\n"
JointState = generate_dynamic("made_up_msgs/JointState", text)["made_up_msgs/JointState"]
"""


def test_a_topic_of_another_type_is_a_fault_in_rospys_own_words(node: Ros1Node, run: Any) -> None:
    heard: list[Any] = []
    subscriber = node.subscribe("/other", "std_msgs/Float64", heard.append)
    run(TALKER.replace("/states", "/other"))
    until(lambda: subscriber.faults, "the fault")
    [words] = subscriber.faults.values()
    assert words == "/other: topic types do not match: [std_msgs/Float64] vs. [sensor_msgs/JointState]"
    assert not heard


def test_latched_messages_reach_who_comes_later(node: Ros1Node, run: Any) -> None:
    out = node.publish("/timeout", "std_msgs/Float64", latch=True)
    out.publish(TYPES.make("std_msgs/Float64", data=0.25))
    script = (
        "import rospy\nfrom std_msgs.msg import Float64\nrospy.init_node('late')\n"
        "print(rospy.wait_for_message('/timeout', Float64, 20).data)"
    )
    assert run(script).stdout.readline().strip() == "0.25"


def test_parameters_are_read(node: Ros1Node, run: Any) -> None:
    script = "import rospy\nrospy.set_param('/rethink/software_version', '5.3.0')\nprint('set')"
    assert run(script).stdout.readline() == "set\n"
    assert node.parameter("/rethink/software_version") == "5.3.0"
    assert node.parameter("/nothing", "default") == "default"


def test_without_a_master_the_error_names_its_address() -> None:
    node = Ros1Node("lonely", "127.0.0.1:1", TYPES)
    try:
        with pytest.raises(Ros1Error, match=r"registerPublisher was not answered at http://127\.0\.0\.1:1/"):
            node.publish("/x", "std_msgs/Empty")
    finally:
        node.close()


@pytest.mark.slow
def test_connections_outlive_the_master_and_new_ones_are_made_when_it_is_back(
    roscore: Roscore, node: Ros1Node, run: Any
) -> None:
    heard: list[float] = []
    states = node.subscribe("/states", "sensor_msgs/JointState", lambda m: heard.append(float(m.position[0])))
    first = run(TALKER)
    until(lambda: len(heard) > 10, "the first talker")
    roscore.stop()
    until(lambda: not node.registered, "the loss of the master")
    seen = len(heard)
    until(lambda: len(heard) > seen + 10, "what the first talker goes on to say")
    roscore.start()
    until(lambda: node.registered, "the master's memory")
    first.kill()
    until(lambda: states.publishers == 0, "the first talker's end")
    heard.clear()
    run(TALKER)
    until(lambda: len(heard) > 10, "the second talker")


def test_rospy_lists_its_topics(roscore: Roscore, node: Ros1Node, tmp_path: Path) -> None:
    node.publish("/command", "intera_core_msgs/JointCommand")
    done = subprocess.run(
        ["rostopic", "info", "/command"],
        env=roscore.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "Type: intera_core_msgs/JointCommand" in done.stdout
    assert node.name in done.stdout


def test_nothing_is_listened_to_but_on_the_address_towards_the_master() -> None:
    master = Ros1Master("127.0.0.1", 0)
    node = Ros1Node("tested", master.uri.removeprefix("http://").strip("/"), TYPES)
    try:
        node.publish("/x", "std_msgs/Empty")
        process = psutil.Process()
        listening = {c.laddr.ip for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}
    finally:
        node.close()
        master.close()


def test_a_stranger_on_the_port_is_let_go_without_harm() -> None:
    master = Ros1Master("127.0.0.1", 0)
    node = Ros1Node("tested", master.uri.removeprefix("http://").strip("/"), TYPES)
    heard: list[float] = []
    try:
        out = node.publish("/x", "std_msgs/Float64")
        uri = call(master.uri, "lookupNode", "/test", node.name)
        _, host, port = call(uri, "requestTopic", "/test", "/x", [["TCPROS"]])
        for junk in (b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff", encode_header({"topic": "/nothing"})):
            with socket.create_connection((host, port), 10.0) as stranger:
                stranger.sendall(junk)
                with suppress(OSError):  # the node has reset the connection already
                    stranger.shutdown(socket.SHUT_WR)
                    assert stranger.recv(1) == b""
        with pytest.raises(Ros1Error, match="does not publish /nothing"):
            call(uri, "requestTopic", "/test", "/nothing", [["TCPROS"]])
        node.subscribe("/x", "std_msgs/Float64", lambda m: heard.append(m.data))
        until(lambda: out.listeners == 1, "itself")
        out.publish(TYPES.make("std_msgs/Float64", data=2.0))
        until(lambda: heard == [2.0], "its own message")
    finally:
        node.close()
        master.close()


def test_a_cut_network_ends_the_connections_of_a_topic() -> None:
    """By the options that let the kernel notice it; nobody can cut loopback."""
    master = Ros1Master("127.0.0.1", 0)
    node = Ros1Node("tested", master.uri.removeprefix("http://").strip("/"), TYPES)
    try:
        out = node.publish("/x", "std_msgs/Float64")
        reader = node.subscribe("/x", "std_msgs/Float64", lambda _: None)
        until(lambda: out.listeners == 1 and reader.publishers == 1, "itself")
        [reading], [writing] = reader._open.values(), (each.connection for each in out._listeners)
        for connection in (reading, writing):
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            idle, between, probes, unanswered_ms = (
                connection.getsockopt(socket.IPPROTO_TCP, option)
                for option in (
                    socket.TCP_KEEPIDLE,
                    socket.TCP_KEEPINTVL,
                    socket.TCP_KEEPCNT,
                    socket.TCP_USER_TIMEOUT,
                )
            )
            assert idle + between * probes <= CUT_S
            assert unanswered_ms == 1000 * CUT_S
    finally:
        node.close()
        master.close()


@pytest.mark.slow
def test_a_connection_that_cannot_be_taken_does_not_end_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that its sender gave up, or one beyond the number of open files."""
    faults = [OSError(errno.ECONNABORTED, "gone"), OSError(errno.EMFILE, "too many")]
    accept = socket.socket.accept

    def flaky(listener: socket.socket) -> Any:
        if faults and threading.current_thread().name == "tested _accept":
            raise faults.pop()
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", flaky)
    master = Ros1Master("127.0.0.1", 0)
    node = Ros1Node("tested", master.uri.removeprefix("http://").strip("/"), TYPES)
    try:
        out = node.publish("/x", "std_msgs/Float64")
        node.subscribe("/x", "std_msgs/Float64", lambda _: None)
        until(lambda: out.listeners == 1, "itself")
        assert not faults
    finally:
        node.close()
        master.close()
