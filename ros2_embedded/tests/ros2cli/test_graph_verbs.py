"""Verbs that look at a running node and talk to it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import yaml

import rclpy
from rclpy.task import Future
from ros2cli.verbs.action.send_goal import answer_of


def test_node_list_and_info(robot):
    assert robot.ok("node", "list").split() == ["/robot"]
    info = robot.ok("node", "info", "/robot")
    assert "    /chatter: std_msgs/msg/String\n" in info
    assert "    /add: example_interfaces/srv/AddTwoInts\n" in info
    assert "    /fibonacci: example_interfaces/action/Fibonacci\n" in info


def test_topic_list_type_find_and_info(robot):
    assert "/chatter [std_msgs/msg/String]\n" in robot.ok("topic", "list", "-t")
    verbose = robot.ok("topic", "list", "-v")
    published, _, subscribed = verbose.partition("Subscribed topics:\n")
    assert published.startswith("Published topics:\n")
    assert " * /chatter [std_msgs/msg/String] 1 publisher\n" in published
    assert " * /ear [std_msgs/msg/String] 1 subscriber\n" in subscribed
    assert robot.ok("topic", "type", "/chatter") == "std_msgs/msg/String\n"
    assert "/latched" in robot.ok("topic", "find", "std_msgs/msg/String").split()
    info = robot.ok("topic", "info", "/latched", "-v")
    assert (
        "Topic type hash: RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18\n" in info
    )
    assert "Node name: robot\n" in info
    assert "Durability: TRANSIENT_LOCAL\n" in info


def test_echo_prints_yaml_fields_and_csv(robot):
    assert robot.ok("topic", "echo", "--once", "/chatter") == "data: speed 1\n---\n"
    assert robot.ok("topic", "echo", "--once", "/chatter", "--field", "data") == "speed 1\n---\n"
    assert robot.ok("topic", "echo", "--once", "/chatter", "--csv") == "speed 1\n"


def test_echo_tells_about_each_message(robot):
    output = robot.ok("topic", "echo", "--once", "--include-message-info", "/chatter")
    assert output.startswith("---Got new message, message info:---\n{")
    assert "'source_timestamp': " in output
    assert output.endswith("---Message data:---\ndata: speed 1\n---\n")


def test_arguments_of_ros_2_are_taken(robot):
    for words in (["--no-daemon"], ["--spin-time", "1"], ["-s"], ["--use-sim-time"]):
        assert robot.ok("node", "list", *words) == "/robot\n"
    value = robot.ok("param", "get", "--include-hidden-nodes", "/robot", "speed", "--hide-type")
    assert value == "1\n"
    echo = ["topic", "echo", "--once", "/chatter", "--qos-liveliness", "automatic"]
    assert robot.ok(*echo, "--qos-liveliness-lease-duration-seconds", "5") == "data: speed 1\n---\n"
    silent = ["topic", "hz", "/chatter", "--duration", "1.1", "--filter", "'no' in m.data"]
    assert robot.ok(*silent) == ""


def test_what_nobody_has(robot):
    assert robot.run("topic", "info", "/nothing") == (1, "Unknown topic '/nothing'\n")
    assert robot.run("service", "type", "/nothing") == (1, "")
    assert robot.run("topic", "type", "/fibonacci/_action/status") == (1, "")
    with_hidden = ["topic", "type", "--include-hidden-topics", "/fibonacci/_action/status"]
    assert robot.ok(*with_hidden) == "action_msgs/msg/GoalStatusArray\n"
    info = robot.ok("action", "info", "/nothing")
    assert info == "Action: /nothing\nAction clients: 0\nAction servers: 0\n"
    assert robot.run("topic", "echo", "--timeout", "0.2", "/ear", "std_msgs/msg/String") == (0, "")
    code, output = robot.run("topic", "echo", "/nothing")
    assert code == 1
    assert output.endswith("Could not determine the type for the passed topic\n")


def test_topics_of_actions_are_echoed(robot):
    echo = robot.start("topic", "echo", "--once", "/fibonacci/_action/feedback")
    while echo.poll() is None:
        robot.ok("action", "send_goal", "/fibonacci", "example_interfaces/action/Fibonacci", "{order: 4}")
    output, _ = echo.communicate()
    assert output.startswith("goal_id:\n  uuid:\n")


def test_node_info_and_hidden_services(robot):
    info = robot.ok("node", "info", "/robot")
    assert "  Service Clients:\n\n  Action Servers:\n    /fibonacci: " in info
    assert "_ros2cli" not in robot.ok("service", "list", "--include-hidden-services")
    assert robot.ok("pkg", "prefix", "ros2cli").strip() == sys.prefix


def test_find_counts(robot):
    listed = robot.ok("topic", "find", "std_msgs/msg/String").splitlines()
    assert robot.ok("topic", "find", "-c", "std_msgs/msg/String") == f"{len(listed)}\n"
    assert robot.ok("service", "find", "-c", "example_interfaces/srv/AddTwoInts") == "1\n"


def test_param_list_filter(robot):
    assert robot.ok("param", "list", "/robot", "--filter", "^arm") == "  arm.gain\n"


def test_echo_adapts_to_a_latched_publisher(robot):
    # Only a transient local subscription gets what was published before it existed.
    assert robot.ok("topic", "echo", "--once", "/latched") == "data: still here\n---\n"


def test_echo_flushes_into_a_pipe_and_ends_quietly(robot):
    process = robot.start("topic", "echo", "/chatter")
    assert process.stdout.readline() == "data: speed 1\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=90)
    assert "Traceback" not in rest
    assert process.returncode == 2


def test_hz_measures_the_rate(robot):
    output = robot.ok("topic", "hz", "/chatter", "--duration", "2.5")
    rates = [float(rate) for rate in re.findall(r"average rate: ([\d.]+)", output)]
    assert rates
    assert 5 < rates[-1] < 21
    assert "B/s from" in robot.ok("topic", "bw", "/chatter", "--duration", "1.5")


def wait_for_subscription(robot, topic):
    """Wait until a process that was started has subscribed."""
    end = time.monotonic() + 90
    while "Subscription count: 1" not in robot.ok("topic", "info", topic):
        assert time.monotonic() < end, "the subscription did not come"


def test_pub_reaches_a_subscription(robot):
    echo = robot.start("topic", "echo", "--once", "/heard", "std_msgs/msg/String")
    wait_for_subscription(robot, "/heard")
    output = robot.ok(
        "topic", "pub", "-r", "20", "-t", "40", "/ear", "std_msgs/msg/String", "{data: over here}"
    )
    assert "publishing #1: std_msgs.msg.String(data='over here')" in output
    assert echo.communicate(timeout=90)[0] == "data: over here\n---\n"


def test_filter_and_messages_from_a_file(robot):
    path = robot.folder / "messages.yaml"
    path.write_text("data: first\n---\ndata: second\n")
    echo = robot.start(
        "topic", "echo", "--once", "/heard", "std_msgs/msg/String", "--filter", "'sec' in m.data"
    )
    wait_for_subscription(robot, "/heard")
    robot.ok("topic", "pub", "-r", "20", "-t", "40", "/ear", "std_msgs/msg/String", "--yaml-file", str(path))
    assert echo.communicate(timeout=90)[0] == "data: second\n---\n"
    code, output = robot.run("topic", "echo", "--once", "/chatter", "--filter", "m.nothing > 1")
    assert code == 1
    assert "filter 'm.nothing > 1'" in output
    code, output = robot.run("topic", "pub", "/ear", "std_msgs/msg/String", "--yaml-file", "/no/such/file")
    assert code == 1
    assert "cannot read" in output


def test_pub_fills_in_the_time(robot):
    import time

    values = "{header: auto, point: {x: 1.5}}"
    echo = robot.start(
        "topic", "echo", "--once", "/point", "geometry_msgs/msg/PointStamped", "--field", "header.stamp.sec"
    )
    before = int(time.time())
    robot.ok("topic", "pub", "-r", "20", "-t", "20", "/point", "geometry_msgs/msg/PointStamped", values)
    stamp = int(echo.communicate(timeout=90)[0].split()[0])
    assert before <= stamp <= time.time()


def test_pub_names_the_wrong_field(robot):
    code, output = robot.run("topic", "pub", "--once", "/ear", "std_msgs/msg/String", "{text: x}")
    assert code == 1
    assert "has no attribute 'text'; std_msgs/String has: data" in output
    code, output = robot.run("topic", "pub", "--once", "/ear", "std_msgs/msg/Strong", "{}")
    assert code == 1
    assert "std_msgs/msg/Strong" in output
    code, output = robot.run("topic", "pub", "--once", "a name", "std_msgs/msg/String", "{}")
    assert (code, "Invalid topic name" in output) == (1, True)
    code, output = robot.run("topic", "pub", "-1", "-w", "0", "/x", "std_msgs/msg/UInt8", "{data: 300}")
    assert (code, "field 'data' must be an integer in [0, 255], not 300" in output) == (1, True)


def test_options_of_ros_2_are_taken(robot):
    output = robot.ok(
        "topic", "echo", "/chatter", "--once", "--clear", "--lost-messages", "--qos-history", "unknown"
    )
    assert output.startswith("\x1b[H\x1b[2Jdata: speed")
    for profile in ("parameter_events", "action_status_default", "unknown"):
        robot.ok("topic", "pub", "-1", "-w", "0", "/x", "std_msgs/msg/String", "--qos-profile", profile)


def test_service_list_type_and_call(robot):
    assert "/add [example_interfaces/srv/AddTwoInts]\n" in robot.ok("service", "list", "-t")
    info = robot.ok("service", "info", "/add")
    assert info == "Type: example_interfaces/srv/AddTwoInts\nClients count: 0\nServices count: 1\n"
    assert robot.ok("service", "type", "/add") == "example_interfaces/srv/AddTwoInts\n"
    assert robot.ok("service", "find", "example_interfaces/srv/AddTwoInts") == "/add\n"
    output = robot.ok("service", "call", "/add", "example_interfaces/srv/AddTwoInts", "{a: 2, b: 40}")
    assert "AddTwoInts_Response(sum=42)" in output
    code, output = robot.run("service", "call", "--timeout", "0.3", "/nobody", "std_srvs/srv/Trigger")
    assert code == 1
    assert "'/nobody' is not available" in output


@pytest.mark.slow
def test_a_wrong_type_is_told_and_not_waited_for(robot):
    code, output = robot.run("service", "call", "/add", "std_srvs/srv/Trigger")
    assert code == 1
    assert "'/add' is of type example_interfaces/srv/AddTwoInts, not std_srvs/srv/Trigger" in output
    assert "making request" not in output
    code, output = robot.run("action", "send_goal", "/fibonacci", "test_msgs/action/Fibonacci", "{order: 1}")
    assert code == 1
    assert (
        "'/fibonacci' is of type example_interfaces/action/Fibonacci, not test_msgs/action/Fibonacci"
        in output
    )
    output = robot.ok("topic", "echo", "/chatter", "std_msgs/msg/Int32", "--timeout", "3")
    assert (
        output.count("topic [/chatter] is published as [std_msgs/msg/String], not as [std_msgs/msg/Int32]")
        == 1
    )
    code, output = robot.run("topic", "pub", "-1", "--max-wait-time-secs", "3", "/ear", "std_msgs/msg/Int32")
    assert code == 1
    assert output.count("topic [/ear] is subscribed to as [std_msgs/msg/String]") == 1
    assert "WARNING" not in robot.ok("topic", "echo", "/chatter", "std_msgs/msg/String", "--once")


def test_action_list_info_and_send_goal(robot):
    assert robot.ok("action", "list", "-t") == "/fibonacci [example_interfaces/action/Fibonacci]\n"
    assert robot.ok("action", "type", "/fibonacci") == "example_interfaces/action/Fibonacci\n"
    assert robot.ok("action", "find", "example_interfaces/action/Fibonacci") == "/fibonacci\n"
    assert "Action servers: 1\n    /robot\n" in robot.ok("action", "info", "/fibonacci")
    output = robot.ok(
        "action", "send_goal", "--feedback", "/fibonacci", "example_interfaces/action/Fibonacci", "{order: 4}"
    )
    assert "Feedback:\n" in output
    assert "Goal finished with status: SUCCEEDED" in output
    assert output.count("- 3\n") >= 2


def test_parameters(robot):
    assert {"speed", "names", "arm.gain"} <= set(robot.ok("param", "list", "/robot").split())
    assert robot.ok("param", "get", "/robot", "speed") == "Integer value is: 1\n"
    assert robot.ok("param", "set", "/robot", "speed", "3") == "Set parameter successful\n"
    assert robot.ok("param", "get", "/robot", "speed", "--hide-type") == "3\n"
    code, output = robot.run("param", "set", "/robot", "speed", "fast")
    assert code == 1
    assert "failed" in output
    assert "Type: double" in robot.ok("param", "describe", "/robot", "arm.gain")
    code, output = robot.run("param", "describe", "/robot", "sped")
    assert code == 1
    assert "sped" in output
    dumped = yaml.safe_load(robot.ok("param", "dump", "/robot"))
    values = dumped["/robot"]["ros__parameters"]
    assert values["names"] == ["a", "b"]
    assert values["arm"]["gain"] == 0.5
    path = robot.folder / "parameters.yaml"
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": {"speed": 1, "arm": {"gain": 2.0}}}}))
    assert "Set parameter arm.gain successful" in robot.ok("param", "load", "/robot", str(path))
    assert robot.ok("param", "get", "/robot", "arm.gain") == "Double value is: 2.0\n"
    code, output = robot.run("param", "get", "/robot", "sped")
    assert code == 1
    assert output == "Parameter not set\n"
    code, output = robot.run("param", "delete", "/robot", "speed")
    assert code == 1
    assert output.startswith("Deleting parameter failed: ")


SERVER = """
import rclpy, time
from example_interfaces.action import Fibonacci
from rclpy.action import ActionServer
rclpy.init()
node = rclpy.create_node("counter")
input()
server = ActionServer(node, Fibonacci, "counted", lambda handle: time.sleep(600))
rclpy.spin(node)
"""


@pytest.mark.parametrize(
    ("comes_back", "words"),
    [
        (False, "the action server left the graph before the goal ended"),
        (True, "the action server was started again, and does not know the goal"),
    ],
)
def test_a_goal_whose_server_is_killed_is_not_waited_for(robot, comes_back, words):
    command = [sys.executable, "-c", SERVER]
    servers = [
        subprocess.Popen(command, env=robot.environment, stdin=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        print(file=servers[0].stdin, flush=True)
        goal = robot.start(
            "action", "send_goal", "/counted", "example_interfaces/action/Fibonacci", "{order: 4}"
        )
        said = iter(goal.stdout.readline, "")
        assert any("Goal accepted" in line for line in said)
        servers[0].kill()
        if comes_back:
            print(file=servers[1].stdin, flush=True)
        output, _ = goal.communicate(timeout=60)
        assert (goal.returncode, words in output) == (1, True), output
    finally:
        for server in servers:
            server.kill()
            server.communicate()


def test_a_server_that_took_the_place_of_another_before_the_result_was_asked_for_is_asked(monkeypatch):
    """Whoever accepted the goal may be gone when its result is asked for; then nobody has heard that."""
    monkeypatch.setattr(rclpy, "spin_until_future_complete", lambda node, future, timeout_sec: None)
    graph = ["first"]
    node = SimpleNamespace(
        get_publishers_info_by_topic=lambda topic: [
            SimpleNamespace(endpoint_gid=each.encode()) for each in graph
        ]
    )
    accepted, unheard, heard = Future(), Future(), Future()
    accepted.set_result("accepted")
    heard.set_result("nobody knows the goal")
    asked = set()
    assert answer_of(node, "/counted", accepted, asked) == "accepted"
    graph[:] = ["second"]
    assert answer_of(node, "/counted", unheard, asked, lambda: heard) == "nobody knows the goal"


def test_lifecycle(robot):
    assert robot.ok("lifecycle", "nodes") == "/robot\n"
    assert robot.ok("lifecycle", "get", "/robot") == "unconfigured [1]\n"
    assert "- configure [1]" in robot.ok("lifecycle", "list", "/robot")
    code, output = robot.run("lifecycle", "set", "/robot", "activate")
    assert code == 1
    assert "Unknown transition requested, available ones are:\n- configure [1]\n" in output
    assert robot.ok("lifecycle", "set", "/robot", "configure") == "Transitioning successful\n"
    robot.ok("lifecycle", "set", "/robot", "activate")
    assert robot.ok("lifecycle", "get", "/robot") == "active [3]\n"
    every = re.findall(r"\[(\d+)\]", robot.ok("lifecycle", "list", "/robot", "-a"))
    assert " ".join(every) == (
        "1 10 11 12 2 20 21 22 3 30 31 32 4 40 41 42 5 6 7 50 51 52 60 61 62"  # as rcl registers them
    )


def test_hidden_nodes_are_found_only_where_they_are_asked_for(robot):
    context = rclpy.Context()
    rclpy.init(context=context)
    rclpy.create_node("_ghost", context=context)
    try:
        assert robot.ok("node", "info", "--include-hidden", "/_ghost").startswith("/_ghost\n")
        assert robot.run("node", "info", "/_ghost") == (1, "Unable to find node '/_ghost'\n")
        for arguments in (("param", "list"), ("lifecycle", "get"), ("lifecycle", "list")):
            assert robot.run(*arguments, "/_ghost") == (1, "Node not found\n")
            assert robot.run(*arguments, "/nobody", "--timeout", "0.2") == (1, "Node not found\n")
    finally:
        rclpy.shutdown(context=context)


def test_options_may_stand_before_the_verb(robot):
    assert "/fibonacci/_action/status" in robot.ok("topic", "--include-hidden-topics", "list").split()
    assert "/fibonacci/_action/send_goal" in robot.ok("service", "--include-hidden-services", "list").split()
    assert robot.run("topic", "--include-hidden-topics", "lst")[0] == 1


def test_unknown_names_are_one_line(robot):
    for arguments in (
        ("node", "info", "/nobody"),
        ("topic", "info", "/nothing"),
        ("topic", "lst"),
        ("tpic",),
    ):
        code, output = robot.run(*arguments)
        assert code == 1, arguments
        assert output.count("\n") == 1


@pytest.mark.slow
def test_what_measures_waits_for_its_topic(ros2):
    measuring = ros2.start("topic", "bw", "/comes_late")
    assert measuring.stdout is not None
    assert "does not appear to be published yet" in measuring.stdout.readline()
    publishing = ros2.start("topic", "pub", "-r", "20", "/comes_late", "std_msgs/msg/String", "{data: here}")
    try:
        assert "B/s from" in measuring.stdout.readline()
    finally:
        for process in (measuring, publishing):
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=90)
    assert measuring.returncode == 2
