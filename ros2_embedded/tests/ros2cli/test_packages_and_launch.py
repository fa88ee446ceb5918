"""Packages, interfaces, and nodes started by launch files of a package."""

from __future__ import annotations

import signal

import pytest

from ros2interface.verb.show import InterfaceTextLine

from .conftest import wait_until

LAUNCH = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushROSNamespace, SetParameter
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

def generate_launch_description():
    share = FindPackageShare('testbed')
    return LaunchDescription([
        DeclareLaunchArgument('speed', default_value='7'),
        DeclareLaunchArgument('text', default_value='12'),
        GroupAction([
            PushROSNamespace('left'),
            SetParameter('arm.gain', 9.5),
            Node(
                package='testbed', executable='robot', name='renamed', namespace='inner', output='screen',
                parameters=[
                    ParameterFile(PathJoinSubstitution([share, 'launch', 'p.yaml']), allow_substs=True),
                    {'speed': LaunchConfiguration('speed')},
                    {'text': ParameterValue(LaunchConfiguration('text'), value_type=str)},
                ],
                remappings=[('chatter', '/loud')],
            ),
        ]),
    ])
"""

LIFECYCLE = """
from launch import LaunchDescription
from launch.actions import LogInfo, RegisterEventHandler, Shutdown
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition

def generate_launch_description():
    node = LifecycleNode(package='testbed', executable='robot', name='robot', namespace='', autostart=True)
    return LaunchDescription([
        RegisterEventHandler(OnStateTransition(
            target_lifecycle_node=node, goal_state='active',
            entities=[LogInfo(msg='robot is active'), Shutdown()])),
        node,
    ])
"""


def test_pkg_verbs(ros2):
    assert "testbed" in ros2.ok("pkg", "list").split()
    assert ros2.ok("pkg", "prefix", "testbed") == f"{ros2.folder}/prefix\n"
    assert ros2.ok("pkg", "executables", "testbed") == "testbed robot\n"
    assert ros2.ok("pkg", "xml", "testbed", "-t", "version") == "1.2.3\n"
    assert ros2.ok("pkg", "xml", "launch_ros", "-t", "name") == "launch_ros\n"
    for verb in ("prefix", "xml"):
        for name in ("nonesuch", "_nonesuch"):
            assert ros2.run("pkg", verb, name) == (1, "Package not found\n")
    code, output = ros2.run("run", "testbed", "rubot")
    assert code == 1
    assert "has no executable 'rubot'; it has: robot" in output


@pytest.mark.parametrize(
    ("text", "comment", "trailing", "nested"),
    [
        ("  # only words", True, None, None),
        ("int32 value  # metres", False, "metres", None),
        ("Point[4] corners", False, None, "geometry_msgs/msg/Point"),
        ("string name 'a # b'", False, None, None),
        ("---", False, None, None),
        ("", False, None, None),
    ],
)
def test_lines_of_definitions(text, comment, trailing, nested):
    line = InterfaceTextLine("geometry_msgs", "Shape", text)
    assert (str(line), line.is_comment()) == (text, comment)
    assert (line.trailing_comment, line.nested_type) == (trailing, nested)
    assert line.is_trailing_comment() == (trailing is not None)


def test_a_line_of_a_definition_is_one_line():
    with pytest.raises(ValueError, match="one line"):
        InterfaceTextLine("geometry_msgs", "Shape", "int32 a\nint32 b")


def test_interface_verbs(ros2):
    assert "std_msgs/msg/String" in ros2.ok("interface", "list").split()
    assert ros2.ok("interface", "show", "std_msgs/msg/String") == "string data\n"
    shown = ros2.ok("interface", "show", "example_interfaces/srv/AddTwoInts")
    assert shown == "int64 a\nint64 b\n---\nint64 sum\n"
    assert "\tint32 sec\n" in ros2.ok("interface", "show", "std_msgs/msg/Header")
    assert (
        "example_interfaces/action/Fibonacci" in ros2.ok("interface", "package", "example_interfaces").split()
    )
    assert ros2.ok("interface", "proto", "example_interfaces/srv/AddTwoInts", "--no-quotes") == "a: 0\nb: 0\n"
    code, output = ros2.run("interface", "show", "std_msgs/msg/Nonesuch")
    assert code == 1
    assert output.startswith("Could not find the interface '")
    assert ros2.run("interface", "show", "nonesuch/msg/Text") == (1, "Unknown package 'nonesuch'\n")


def test_no_daemon_is_needed(ros2):
    assert "none is needed" in ros2.ok("daemon", "status")


def test_launched_node_gets_parameters_names_and_remappings(ros2):
    ros2.launch_file("up.launch.py", LAUNCH)
    ros2.launch_file("p.yaml", "/**:\n  ros__parameters:\n    names: ['$(var text)', b]\n    speed: 1\n")
    process = ros2.start("launch", "testbed", "up.launch.py", "speed:=8")
    assert (
        ros2.ok("topic", "echo", "--once", "/loud", "std_msgs/msg/String", "--timeout", "30")
        == "data: speed 8\n---\n"
    )
    assert "/left/inner/renamed" in ros2.ok("node", "list").split()
    name = "/left/inner/renamed"
    assert ros2.ok("param", "get", name, "text") == "String value is: 12\n"
    assert ros2.ok("param", "get", name, "arm.gain") == "Double value is: 9.5\n"
    assert ros2.ok("param", "get", name, "names") == "String values are: ['12', 'b']\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0, output
    assert "[INFO] [robot-1]: process started with pid [" in output


def test_lifecycle_node_starts_by_itself(ros2):
    ros2.launch_file("life.launch.py", LIFECYCLE)
    code, output = ros2.run("launch", "testbed", "life.launch.py")
    assert code == 0, output
    assert "robot is active" in output


TRANSITIONS = """
<launch>
  <lifecycle_node pkg="testbed" exec="robot" name="robot" namespace="late"/>
  <set_parameter name="use_sim_time" value="false"/>
  <ros_timer period="0.2"><log message="by the clock of ROS"/></ros_timer>
  <lifecycle_transition lifecycle_node_names="/late/robot" transition_ids="configure 3"/>
</launch>
"""


def test_transitions_of_a_node_by_name(ros2):
    ros2.launch_file("transitions.launch.xml", TRANSITIONS)
    process = ros2.start("launch", "testbed", "transitions.launch.xml")
    assert wait_until(lambda: "active [3]" in ros2.run("lifecycle", "get", "/late/robot")[1])
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0, output
    assert "by the clock of ROS" in output


def test_transition_must_exist(ros2):
    ros2.launch_file("wrong.launch.xml", TRANSITIONS.replace("configure 3", "explode"))
    code, output = ros2.run("launch", "testbed", "wrong.launch.xml")
    assert code == 1
    assert "transition 'explode' is unknown; known: create, configure" in output


PLUGIN = """
def add_arguments(parser):
    parser.add_argument("word")

def main(args):
    print("plugged " + args.word)
    return 7
"""


def test_verbs_of_other_distributions(ros2, monkeypatch, tmp_path):
    (tmp_path / "plug-1.0.dist-info").mkdir()
    (tmp_path / "plug-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    (tmp_path / "plug-1.0.dist-info/entry_points.txt").write_text(
        "[ros2_embedded.verbs]\ntopic.plugged = plugged_verb\nfleet.plugged = plugged_verb\n"
    )
    (tmp_path / "plugged_verb.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    assert ros2.run("topic", "plugged", "in") == (7, "plugged in\n")
    assert ros2.run("fleet", "plugged", "out") == (7, "plugged out\n")
    assert "plugged" in ros2.ok("topic", "--help")


def test_launch_names_the_files_a_package_has(ros2):
    ros2.launch_file("up.launch.py", LAUNCH)
    code, output = ros2.run("launch", "testbed", "down.launch.py")
    assert code == 1
    assert "up.launch.py" in output


def test_launch_overlooks_copies_in_a_checkout_s_virtual_environment(ros2):
    ros2.launch_file("up.launch.py", LAUNCH)
    share = ros2.folder / "prefix/share/testbed"
    for folder in (".venv/share/testbed/launch", "install/share/testbed/launch"):
        (share / folder).mkdir(parents=True)
        (share / folder / "up.launch.py").write_text("not even Python")
    assert "'speed'" in ros2.ok("launch", "testbed", "up.launch.py", "--show-args")
