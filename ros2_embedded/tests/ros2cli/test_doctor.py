"""`ros2 doctor`: what it finds right, what it finds wrong, and what it reports."""

from __future__ import annotations

import datetime
import socket
from collections.abc import Callable, Iterator

import pytest
from std_msgs.msg import String

import rclpy
from rclpy.node import Node
from ros2doctor.api import Report, run_checks
from ros2doctor.api.format import compute_padding
from ros2doctor.api.package import fits, requirements
from ros2doctor.api.platform import distribution_status
from ros2doctor.api.topic import TopicCheck, TopicReport


@pytest.fixture
def node() -> Iterator[Node]:
    """A node that publishes what nobody hears, and hears what it publishes itself."""
    context = rclpy.Context()
    context.init()
    made = rclpy.create_node("patient", context=context)
    made.create_publisher(String, "unheard", 10)
    made.create_publisher(String, "heard", 10)
    made.create_subscription(String, "heard", lambda message: None, 10)
    made.create_subscription(String, "unsaid", lambda message: None, 10)
    yield made
    made.destroy_node()
    context.try_shutdown()


def test_a_sound_setup_passes_every_check(ros2, capfd: pytest.CaptureFixture[str]) -> None:
    assert ros2.ok("doctor").strip() == "All 6 checks passed"
    assert ros2.ok("wtf", "--exclude-packages").strip() == "All 5 checks passed"
    assert capfd.readouterr().err == ""


def test_topics_with_one_end_are_named_and_fail_where_warnings_count(
    node: Node, capfd: pytest.CaptureFixture[str]
) -> None:
    result = TopicCheck().check()
    said = capfd.readouterr().err
    assert (result.error, result.warning) == (0, 2)
    assert "Publisher without subscriber detected on /unheard." in said
    assert "Subscriber without publisher detected on /unsaid." in said
    assert run_checks() == (set(), 0, 6)
    assert run_checks(include_warnings=True) == ({"topic"}, 1, 6)
    rows = TopicReport().report().items
    at = rows.index(("topic", "/heard"))
    assert rows[at + 1 : at + 3] == [("publisher count", 1), ("subscriber count", 1)]


def test_a_report_has_every_part_and_no_password(ros2, node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    override = 'transport/auth/usrpwd/password="secret"'
    monkeypatch.setitem(ros2.environment, "ZENOH_CONFIG_OVERRIDE", override)
    said = ros2.ok("doctor", "--report")
    parts = [line.strip() for line in said.splitlines() if line.startswith("   ")]
    assert parts == [
        "PLATFORM INFORMATION",
        "ROS 2 INFORMATION",
        "RMW MIDDLEWARE",
        "ROS ENVIRONMENT",
        "PACKAGE VERSIONS",
        "NETWORK CONFIGURATION",
        "TOPIC LIST",
        "SERVICE LIST",
        "ACTION LIST",
        "QOS COMPATIBILITY LIST",
    ]
    for line in (
        "middleware name    : rmw_zenoh_cpp",
        "inet         : 127.0.0.1",
        "topic               : /heard",
        "service          : /patient/get_parameters",
        "subscriber node         : patient",
        "compatibility status    : OK",
    ):
        assert line in said.splitlines(), line
    assert "secret" not in said


def wrong_distribution() -> tuple[str, str, str]:
    return "ROS_DISTRO", "iron", "Distribution iron is no longer supported"


def silent_router() -> tuple[str, str, str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return "ROS_STATIC_PEERS", f"127.0.0.1:{port}", f"No router answers at tcp/127.0.0.1:{port}"


def broken_settings() -> tuple[str, str, str]:
    return "ZENOH_CONFIG_OVERRIDE", "nonsense=1", "No session can be opened"


def wrong_range() -> tuple[str, str, str]:
    return "ROS_AUTOMATIC_DISCOVERY_RANGE", "MOON", "ROS_AUTOMATIC_DISCOVERY_RANGE='MOON'"


@pytest.mark.parametrize(
    ("bent", "module"),
    [
        (wrong_distribution, "platform"),
        (silent_router, "middleware"),
        (broken_settings, "middleware"),
        (wrong_range, "middleware"),
    ],
)
def test_what_is_bent_is_found_and_its_report_follows(
    ros2, monkeypatch: pytest.MonkeyPatch, bent: Callable[[], tuple[str, str, str]], module: str
) -> None:
    name, value, words = bent()
    monkeypatch.setitem(ros2.environment, name, value)
    code, output = ros2.run("doctor", "--include-warnings", "--report-failed")
    assert code == 1
    assert words in output
    assert module in output.partition("Failed modules: ")[2].splitlines()[0].split()
    assert "Traceback" not in output
    assert {"platform": "ROS 2 INFORMATION", "middleware": "RMW MIDDLEWARE"}[module] in output


def test_versions_are_compared_by_their_numbers() -> None:
    assert {"eclipse-zenoh", "mcap", "numpy"} <= {name for name, _ in requirements()}
    assert fits("1.10.2", "<2,>=1.10")
    assert fits("2.0rc1", ">=2")
    assert not fits("1.9", "<2,>=1.10")
    assert not fits("2.0.0", "<2,>=1.10")


def test_a_distribution_ends() -> None:
    now = datetime.date(2027, 1, 1)
    names = ("kilted", "jazzy", "rolling", "noetic")
    assert [distribution_status(name, now) for name in names] == [
        "end-of-life",
        "active",
        "rolling",
        "unknown",
    ]


def test_a_column_of_names_is_as_wide_as_the_longest() -> None:
    report = Report("TOPIC LIST")
    report.add_to_report("subscriber count", 1)
    assert compute_padding(report.items) == 20
