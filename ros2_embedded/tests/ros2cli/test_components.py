"""Components: containers in processes of their own, filled by verbs and by launch files."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from composition_interfaces.srv import LoadNode, UnloadNode

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy_components import ComponentManager

MODULE = """
from rclpy.node import Node
from std_msgs.msg import String


class Talker(Node):
    def __init__(self, **kwargs):
        super().__init__("talker", **kwargs)
        self.declare_parameter("text", "hello")
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.create_timer(0.05, lambda: self.publisher.publish(String(data=self.get_parameter("text").value)))


class Stiff(Node):
    def __init__(self):
        super().__init__("stiff")


class Broken(Node):
    def __init__(self, **kwargs):
        super().__init__("broken", **kwargs)
        1 / 0
"""

ENTRY_POINTS = """[ros2_embedded.components]
parts::Talker = parts_nodes:Talker
parts::Stiff = parts_nodes:Stiff
parts::Broken = parts_nodes:Broken
"""

LAUNCH = """
<launch>
  <arg name="text" default="from xml"/>
  <group>
    <push_ros_namespace namespace="group"/>
    <set_parameter name="text" value="for all"/>
    <node_container pkg="rclcpp_components" exec="component_container" name="box" output="screen">
      <composable_node pkg="parts" plugin="parts::Talker" name="one">
        <param name="text" value="$(var text)"/>
        <remap from="chatter" to="/loud"/>
      </composable_node>
      <composable_node pkg="parts" plugin="parts::Talker" name="never" if="false"/>
    </node_container>
  </group>
  <load_composable_node target="/group/box">
    <composable_node pkg="parts" plugin="parts::Talker" name="two" namespace="other"/>
  </load_composable_node>
</launch>
"""


@pytest.fixture(scope="module")
def parts(ros2):
    """`ros2` with a distribution of components on its path."""
    folder = ros2.folder / "site"
    (folder / "parts-1.0.dist-info").mkdir(parents=True)
    (folder / "parts-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: parts\nVersion: 1.0\n")
    (folder / "parts-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "parts_nodes.py").write_text(MODULE)
    before = dict(ros2.environment)
    ros2.environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(folder), before.get("PYTHONPATH", "")])
    )
    sys.path.insert(0, str(folder))
    yield ros2
    sys.path.remove(str(folder))
    ros2.environment.clear()
    ros2.environment.update(before)


def test_load_list_and_unload(parts):
    assert parts.ok("component", "types", "parts").split() == [
        "parts::Broken",
        "parts::Stiff",
        "parts::Talker",
    ]
    container = parts.start("run", "rclpy_components", "component_container")
    options = ("-n", "mine", "--node-namespace", "/ns", "-p", "text:=hi", "-r", "chatter:=/said")
    loaded = parts.ok("component", "load", "/ComponentManager", "parts", "parts::Talker", *options)
    assert loaded == "Loaded component 1 into '/ComponentManager' container node as '/ns/mine'\n"
    assert parts.ok("topic", "echo", "--once", "/said", "std_msgs/msg/String") == "data: hi\n---\n"
    assert parts.ok("component", "list") == "/ComponentManager\n  1  /ns/mine\n"
    for plugin, problem in (
        ("parts::Stiff", "write def __init__(self, **kwargs)"),
        ("parts::Broken", "ZeroDivisionError"),
        ("parts::None", "it has: parts::Broken, parts::Stiff, parts::Talker"),
    ):
        code, output = parts.run("component", "load", "/ComponentManager", "parts", plugin)
        assert code == 1
        assert problem in output
        assert "Traceback" not in output
    assert "/broken" not in parts.ok("node", "list"), "half a node"
    unloaded = parts.ok("component", "unload", "/ComponentManager", "1")
    assert unloaded == "Unloaded component 1 from '/ComponentManager' container node\n"
    assert parts.ok("component", "list") == "/ComponentManager\n"
    assert parts.run("component", "unload", "/ComponentManager", "1")[0] == 1
    container.send_signal(signal.SIGINT)
    container.communicate(timeout=90)
    assert container.returncode == 0


class Leaving(Node):
    """Ends its process, as one does that does not understand its command line."""

    def __init__(self, **kwargs):
        super().__init__("leaving", **kwargs)
        sys.exit(2)


class Clinging(Node):
    """Cannot end."""

    def __init__(self, **kwargs):
        super().__init__("clinging", **kwargs)

    def destroy_node(self):
        raise ValueError("it is in use")


def test_neither_the_beginning_nor_the_end_of_a_component_ends_its_container(monkeypatch):
    kinds = {"Leaving": Leaving, "Clinging": Clinging}
    monkeypatch.setattr("rclpy_components.manager.load_component", lambda package, plugin: kinds[plugin])
    with rclpy.init(args=[], context=(context := rclpy.Context())):
        manager = ComponentManager(SingleThreadedExecutor(context=context), context=context)
        left = manager.load_node(LoadNode.Request(plugin_name="Leaving"))
        assert (left.success, "SystemExit" in left.error_message) == (False, True)
        for _ in range(2):
            assert manager.load_node(LoadNode.Request(plugin_name="Clinging")).success
        unloaded = manager._unload(UnloadNode.Request(unique_id=1), UnloadNode.Response())
        assert (unloaded.success, "it is in use" in unloaded.error_message) == (False, True)
        manager.destroy_node()
        assert not manager.loaded
        assert not context._nodes


def test_launch_file_fills_a_container(parts):
    parts.launch_file("box.launch.xml", LAUNCH)
    process = parts.start("launch", "testbed", "box.launch.xml")
    assert parts.ok("topic", "echo", "--once", "/loud", "std_msgs/msg/String", "--timeout", "30") == (
        "data: from xml\n---\n"
    )
    said = parts.ok("topic", "echo", "--once", "/other/chatter", "std_msgs/msg/String", "--timeout", "30")
    assert said == "data: hello\n---\n"
    container, *nodes = parts.ok("component", "list").splitlines()
    assert container == "/group/box"
    assert sorted(line.split()[1] for line in nodes) == ["/group/one", "/other/two"]
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0, output
    assert "Loaded node '/group/one' in container '/group/box'" in output
