"""`ros2 service echo` and `ros2 multicast`."""

from __future__ import annotations

import contextlib
import io
import socket
import threading

import pytest
from std_srvs.srv import SetBool

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import qos_profile_system_default
from rclpy.service_introspection import ServiceIntrospectionState
from ros2cli.cli import main
from ros2cli.multicast import receive, send

CONTENTS = ServiceIntrospectionState.CONTENTS


@pytest.fixture
def calls():
    """A service that somebody calls again and again, told about in full on both sides."""
    context = rclpy.Context()
    rclpy.init(context=context, args=[])
    node = rclpy.create_node("echoed", context=context)
    service = node.create_service(SetBool, "/switch", lambda request, response: response)
    client = node.create_client(SetBool, "/switch")
    for end in (service, client):
        end.configure_introspection(node.get_clock(), qos_profile_system_default, CONTENTS)
    node.create_timer(0.05, lambda: client.call_async(SetBool.Request(data=True)))
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin)
    thread.start()
    yield
    rclpy.shutdown(context=context)
    thread.join()


@pytest.mark.parametrize(
    ("words", "event_types"),
    [
        ([], ("REQUEST", "RESPONSE")),
        (["--client-only"], ("REQUEST_SENT", "RESPONSE_RECEIVED")),
        (["--server-only", "std_srvs/srv/SetBool"], ("REQUEST_RECEIVED", "RESPONSE_SENT")),
    ],
)
def test_service_echo(ros2, calls, words, event_types):
    process = ros2.start("service", "echo", "--once", "/switch", *words)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0, output
    assert output.startswith("info:\n  event_type: ")
    assert output.splitlines()[1].split()[-1].startswith(event_types)
    assert "client_gid" in output


def test_service_echo_without_a_service(ros2):
    code, output = ros2.run("service", "echo", "/no_such_service")
    assert code == 1
    assert "there is no service '/no_such_service'" in output


def test_multicast_between_threads():
    port = _free_port()
    got = []
    ready = threading.Thread(target=lambda: got.append(receive(port=port, timeout=60)))
    ready.start()
    while ready.is_alive():
        try:
            send(b"over here", port=port, ttl=1)
        except OSError as error:
            pytest.skip(f"this machine sends no multicast: {error}")
        ready.join(timeout=0.05)
    assert got[0][0] == b"over here"


def test_multicast_verbs(ros2):
    port = str(_free_port())
    assert "Sending one UDP multicast" in ros2.run("multicast", "send", "--port", port, "--ttl", "1")[1]
    code, output = ros2.run("multicast", "receive", "--port", port, "--timeout", "0.01")
    assert code == 1
    assert "within 0.01 s" in output


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("send", "--ttl", "256"), "from 0 to 255"),
        (("send", "--port", "65536"), "from 0 to 65535"),
        (("receive", "--timeout", "-1"), "above 0"),
    ],
)
def test_multicast_numbers_out_of_range(words, reason, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["multicast", *words])
    assert stopped.value.code == 2
    assert reason in capsys.readouterr().err


def test_multicast_passes_many_routers():
    try:
        send(b"far", port=_free_port(), ttl=255)
    except OSError as error:
        pytest.skip(f"this machine sends no multicast: {error}")


COMMENTED = {
    "Thing.msg": '# about\n\nint32 x  # a number\nstring C="a # b"\nPart part\n',
    "Part.msg": "# of a thing\nfloat64 size # [m]\nbuiltin_interfaces/Time stamp\n",
}


def test_definitions_with_comments(ros2, tmp_path, monkeypatch):
    (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages/commented_msgs").touch()
    (tmp_path / "share/commented_msgs/msg").mkdir(parents=True)
    for name, text in COMMENTED.items():
        (tmp_path / "share/commented_msgs/msg" / name).write_text(text)
    monkeypatch.setitem(ros2.environment, "AMENT_PREFIX_PATH", str(tmp_path))
    inner = "\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n"
    name = "commented_msgs/msg/Thing"
    shown = ros2.ok("interface", "show", name)
    assert shown == f"{COMMENTED['Thing.msg']}\tfloat64 size\n{inner}"
    plain = ros2.ok("interface", "show", name, "--no-comments")
    assert plain == f'int32 x\nstring C="a # b"\nPart part\n\tfloat64 size\n{inner}'
    full = ros2.ok("interface", "show", name, "--all-comments")
    assert full == f"{COMMENTED['Thing.msg']}\t# of a thing\n\tfloat64 size # [m]\n{inner}"
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{name}\n"))
    assert ros2.ok("interface", "show", "-") == shown


def test_interfaces_of_one_kind(ros2):
    assert ros2.ok("interface", "package", "-m", "std_srvs") == ""
    assert "std_srvs/srv/Trigger\n" in ros2.ok("interface", "package", "--only-srvs", "std_srvs")
    assert "std_srvs\n" not in ros2.ok("interface", "packages", "-a")
    assert ros2.run("interface", "package", "nobody_msgs") == (1, "Unknown package 'nobody_msgs'\n")


def _free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize(
    ("package", "text", "reason"),
    [
        ("latin_msgs", b"# caf\xe9\nint32 x\n", "Thing.msg:1: not in UTF-8"),
        ("sizeless_msgs", b"int32[x] y\n", "'int32[x]' is not a type"),
        ("part_msgs", b"absent_msgs/Part part\n", "absent_msgs/msg/Part"),
        ("endless_msgs", b"Thing[] x\n", "contains itself: endless_msgs/msg/Thing > endless_msgs/msg/Thing"),
    ],
)
def test_definitions_that_cannot_be_used(ros2, tmp_path, monkeypatch, package, text, reason):
    (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (tmp_path / "share/ament_index/resource_index/packages" / package).touch()
    (tmp_path / "share" / package / "msg").mkdir(parents=True)
    (tmp_path / "share" / package / "msg/Thing.msg").write_bytes(text)
    monkeypatch.setitem(ros2.environment, "AMENT_PREFIX_PATH", str(tmp_path))
    for verb in ("show", "proto"):
        code, output = ros2.run("interface", verb, f"{package}/msg/Thing")
        assert code == 1
        assert "Traceback" not in output
        assert reason in output
