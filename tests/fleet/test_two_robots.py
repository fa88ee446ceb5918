"""Two robots in one domain, each in its namespace: who moves, who stops, and what a listener to both sees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
import rclpy
from fleet_robots import Robot
from rclpy.executors import SingleThreadedExecutor
from tf2_ros import Buffer, TransformListener
from typer.testing import CliRunner

from openral_console.fleet_commands import NOBODY, app
from openral_core.errors import UsageError
from openral_core.files.share import share_directory
from openral_core.graph.namespaces import (
    deployment_of,
    frame_prefix,
    graph_name,
    read_namespace,
    ros_arguments,
)
from openral_core.process.launched_deployment import ros2_command

FIRST, SECOND = "/openral", "/arm2"


@pytest.fixture(scope="module")
def robots(fake_scene):
    made = [Robot(FIRST, fake_scene), Robot(SECOND, fake_scene)]
    for robot in made:
        robot.until(lambda robot=robot: robot.heard["control_status"] and robot.heard["ee_pose"])
    yield made
    for robot in made:
        robot.close()


@pytest.fixture(scope="module")
def domain_tree():
    """The frames of the whole domain, as somebody hears them who belongs to no robot."""
    context = rclpy.Context()
    context.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = rclpy.create_node("looker", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    buffer = Buffer()
    listener = TransformListener(buffer, node)
    yield buffer, executor
    listener.unregister()
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()


def fleet(*words):
    return CliRunner().invoke(app, list(words))


def shown(*words):
    result = fleet(*words, "--json")
    assert result.exit_code == 0, result.output
    return {row["namespace"]: row for row in json.loads(result.stdout)}


def settle(robots, seconds=1.0):
    """Take in what the robots say for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for robot in robots:
            robot.spin(0.02)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["namespace:=/arm2"], "namespace:=/arm2: another bridge runs on this ROS_DOMAIN_ID"),
        (["namespace:=/arm3", "secne:=metaworld_button"], "secne:= is no argument; did you mean scene:=?"),
    ],
    ids=["taken", "misspelt"],
)
def test_a_deployment_that_must_not_begin_starts_no_node(robots, fake_scene, arguments, why):
    """Its reasoner would have the nodes of the other do its mission."""
    words = ["launch", str(share_directory() / "launch" / "deploy_sim.launch.py"), f"scene:={fake_scene}"]
    done = subprocess.run(
        [ros2_command(), *words, *arguments], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 1
    assert why in done.stdout + done.stderr
    assert "process started" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_chunk_moves_the_arm_of_its_namespace_and_no_other(robots):
    first, second = robots
    second.begin_until(lambda: second.status.executed > 0)
    settle(robots)
    assert first.status.executed == 0
    assert first.status.active_goal == ""
    first.begin_until(lambda: first.status.executed > 0)


def test_names_at_the_root_belong_to_the_default_namespace(robots):
    first, second = robots
    names = dict(first.node.get_topic_names_and_types())
    for name in ("/joint_states", "/clock", "/robot_description"):
        assert name in names
        assert f"{SECOND}{name}" in names
    assert second.heard["/joint_states"]
    assert second.heard["/clock"]
    # Each of them has one publisher, and it is a bridge of that namespace.
    for namespace, name in ((FIRST, "/joint_states"), (SECOND, f"{SECOND}/joint_states")):
        found = first.node.get_publishers_info_by_topic(name)
        assert [(end.node_namespace, end.node_name) for end in found] == [(namespace, "sim_bridge")]


def test_a_listener_to_the_domain_sees_both_trees(robots, domain_tree):
    buffer, executor = domain_tree

    def there():
        executor.spin_once(timeout_sec=0.02)
        prefixes = [frame_prefix(robot.namespace) for robot in robots]
        return all(
            buffer.can_transform(f"{prefix}world", f"{prefix}corner2_optical_frame", rclpy.time.Time())
            for prefix in prefixes
        )

    robots[0].until(there)
    for robot in robots:
        prefix = frame_prefix(robot.namespace)
        robot.until(lambda robot=robot: robot.heard["cameras/corner2/camera_info"])
        picture = robot.heard["cameras/corner2/image_raw"][-1]
        info = robot.heard["cameras/corner2/camera_info"][-1]
        assert picture.header.frame_id == info.header.frame_id == f"{prefix}corner2_optical_frame"
        assert robot.heard["ee_pose"][-1].header.frame_id == f"{prefix}world"
    assert not buffer.can_transform("world", "arm2/world", rclpy.time.Time()), "nobody said where they stand"


def test_fleet_lists_both_and_says_what_each_does(robots):
    rows = shown("list")
    assert list(rows) == [SECOND, FIRST]
    assert all(row["doing"] in ("holding", "moving") for row in rows.values())
    assert all(row["control_hz"] == 80.0 for row in rows.values())
    assert list(shown("status", "arm2")) == [SECOND]


@pytest.mark.slow
def test_a_process_that_hangs_in_the_graph_makes_no_robot_silent(robots):
    command = [ros2_command(), "topic", "echo", "/nothing", "std_msgs/msg/String"]
    hanging = subprocess.Popen(command)
    try:
        robots[0].until(lambda: robots[0].node.count_subscribers("/nothing"))
        hanging.send_signal(signal.SIGSTOP)
        assert {row["doing"] for row in shown("list").values()} <= {"holding", "moving"}
    finally:
        hanging.kill()
        hanging.wait()


@pytest.mark.slow
def test_a_robot_that_is_not_there_is_named_with_those_that_are(robots):
    for words in (("status", "/arm3"), ("status", "/arm2", "/arm3")):
        result = fleet(*words)
        assert result.exit_code == NOBODY
        assert "no deployment in /arm3" in " ".join(result.output.split())
    stopped = fleet("stop", "/arm3", "--search", "0.5")
    assert stopped.exit_code == 1
    assert "no bridge was found there" in stopped.output
    settle(robots)
    assert not any(robot.status.estopped for robot in robots)


def test_a_stop_of_one_leaves_the_other_moving(robots):
    first, second = robots
    stopped = fleet("stop", "arm2")
    assert stopped.exit_code == 0
    assert (
        "once all is safe there: ros2 service call /arm2/estop_reset std_srvs/srv/Trigger" in stopped.output
    )
    second.until(lambda: second.status.estopped and second.heard["estop_state"][-1].data)
    executed = first.status.executed
    first.begin_until(lambda: first.status.executed > executed)
    assert not first.status.estopped
    assert {name: row["doing"] for name, row in shown("list").items()}[SECOND] == "stopped"
    second.release()
    second.until(lambda: not second.status.estopped)


def test_a_stop_of_all_stops_all_and_says_so(robots):
    result = fleet("stop")
    assert result.exit_code == 0, result.output
    assert FIRST in result.output
    assert SECOND in result.output
    for robot in robots:
        robot.until(lambda robot=robot: robot.status.estopped)
    assert {row["doing"] for row in shown("list").values()} == {"stopped"}
    for robot in robots:
        robot.release()
        robot.until(lambda robot=robot: not robot.status.estopped)


@pytest.mark.parametrize("text", ["arm 2", "/2arm", "//", "/arm__2", "/arm2/policy", "/ärm"])
def test_a_namespace_that_ros_would_refuse_is_refused_by_name(text):
    with pytest.raises(UsageError, match=r"such as /arm2|take another"):
        read_namespace(text)


def test_where_names_lie():
    assert [read_namespace(text) for text in ("", "arm2", "/site/arm2/")] == [
        "/openral",
        "/arm2",
        "/site/arm2",
    ]
    assert [deployment_of(space) for space in ("/", "/arm2", "/arm2/policy")] == [
        "/openral",
        "/arm2",
        "/arm2",
    ]
    assert graph_name("/arm2/policy", "skills") == "/arm2/skills"
    assert [frame_prefix(space) for space in ("/openral/policy", "/site/arm2")] == ["", "site/arm2/"]
    assert ros_arguments("/openral") == []
    assert "/clock:=/arm2/clock" in ros_arguments("/arm2")
