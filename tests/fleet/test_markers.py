"""What is planned and said, as markers, of a robot in a namespace of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from fleet_robots import LATCHED, Robot
from nav_msgs.msg import Path
from openral.msg import Mission, TaskProgress
from visualization_msgs.msg import Marker, MarkerArray

from openral_core.graph.namespaces import ros_arguments

SPACE = "/arm2"


@pytest.fixture(scope="module")
def robot(fake_scene):
    robot = Robot(SPACE, fake_scene)
    command = [sys.executable, "-m", "openral_console.ros.marker_node"]
    command += [*ros_arguments(SPACE), "--ros-args", "-p", f"scene:={fake_scene}"]
    viewer = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    for kind, name in ((Path, "planned_path"), (MarkerArray, "markers")):
        robot.node.create_subscription(kind, name, robot.heard[name].append, LATCHED)
    robot.until(lambda: robot.heard["markers"] and robot.heard["ee_pose"])
    yield robot
    viewer.kill()
    viewer.wait()
    robot.close()


def newest(robot):
    """The markers of the newest array, by their namespaces."""
    return {marker.ns: marker for marker in robot.heard["markers"][-1].markers}


def test_a_chunk_is_a_path_until_the_arm_holds(robot):
    paths = robot.heard["planned_path"]
    robot.begin_until(lambda: any(len(path.poses) > 1 for path in paths))
    drawn = next(path for path in paths if len(path.poses) > 1)
    assert drawn.header.frame_id == "arm2/world"
    points = [pose.pose.position for pose in drawn.poses]
    # The fake arm's chunk: 0.2 of 1 cm a step, along each axis; steps that were past are not drawn.
    assert 1 < len(points) <= 17
    assert points[1].x - points[0].x == pytest.approx(0.002, abs=1e-6)
    robot.until(lambda: not paths[-1].poses)


def test_the_box_and_the_words_are_in_the_frame_of_the_robot(robot):
    found = newest(robot)
    assert {marker.header.frame_id for marker in found.values()} == {"arm2/world"}
    box, words = found["workspace"], found["words"]
    assert (box.type, len(box.points)) == (Marker.LINE_LIST, 24)
    assert (min(p.x for p in box.points), max(p.z for p in box.points)) == (-0.55, 0.55)
    assert words.type == Marker.TEXT_VIEW_FACING
    assert words.pose.position.z > 0.55


def test_the_words_tell_the_mission_and_the_reading_of_the_goal_that_runs(robot):
    missions = robot.node.create_publisher(Mission, "mission", LATCHED)
    readings = robot.node.create_publisher(TaskProgress, "progress", 10)
    missions.publish(Mission(text="open the drawer", state="active"))
    robot.until(lambda: 'active: "open the drawer"' in newest(robot)["words"].text)
    if not robot.status.active_goal:
        robot.begin_until(lambda: robot.status.active_goal)

    def told(of_goal):
        readings.publish(TaskProgress(goal_id=of_goal, progress=0.62, success=0.71))
        return "progress 0.62, success 0.71" in newest(robot)["words"].text

    for _ in range(20):
        told("f" * 32)
        robot.spin()
    assert not told("f" * 32)
    robot.until(lambda: told(robot.status.active_goal))
