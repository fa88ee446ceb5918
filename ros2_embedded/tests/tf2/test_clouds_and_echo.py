"""Point clouds in other frames, and the program that prints transforms."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

import tf2_sensor_msgs
from rclpy.node import Node
from sensor_msgs_py import point_cloud2
from tf2_ros import Buffer, StaticTransformBroadcaster
from tf2_ros.static_transform_publisher import quaternion_from_euler
from tf2_ros.tf2_echo import describe, euler_from_quaternion

FIELDS = [
    PointField(name=name, offset=offset, datatype=PointField.FLOAT32, count=1)
    for name, offset in (("x", 0), ("y", 4), ("z", 8), ("intensity", 16))
]


def turned() -> TransformStamped:
    """A quarter turn about z, then one metre along x; from `lidar` to `base`."""
    message = TransformStamped(child_frame_id="lidar", header=Header(frame_id="base"))
    message.transform.translation.x = 1.0
    message.transform.rotation.z = message.transform.rotation.w = math.sqrt(0.5)
    return message


def test_a_cloud_is_moved_and_its_other_fields_stay() -> None:
    points = [(1.0, 0.0, 0.0, 7.0), (0.0, 2.0, 3.0, 8.0), (float("nan"), 0.0, 0.0, 9.0)]
    cloud = point_cloud2.create_cloud(Header(frame_id="lidar"), FIELDS, points)
    buffer = Buffer()
    buffer.set_transform_static(turned(), "test")
    moved = buffer.transform(cloud, "base")
    assert moved.header.frame_id == "base"
    read = point_cloud2.read_points(moved)
    assert np.allclose([list(point) for point in read[:2].tolist()], [[1, 1, 0, 7], [-1, 0, 3, 8]], atol=1e-6)
    assert math.isnan(read[2]["x"])
    assert read[2]["intensity"] == 9.0
    assert point_cloud2.read_points(cloud)[0]["x"] == 1.0
    with pytest.raises(ValueError, match="without y, z"):
        tf2_sensor_msgs.do_transform_cloud(PointCloud2(fields=FIELDS[:1], point_step=4), turned())
    points = tf2_sensor_msgs.transform_points(np.array([[1, 0, 0]], np.float32), turned().transform)
    assert points.dtype == np.float32
    assert np.allclose(points, [[1, 1, 0]], atol=1e-6)


def test_an_organised_cloud_with_padded_rows() -> None:
    cloud = PointCloud2(height=2, width=1, fields=FIELDS[:3], point_step=12, row_step=16, is_bigendian=True)
    cloud.data = np.array([1, 2, 3, 99, 4, 5, 6, 99], ">f4").tobytes()
    moved = tf2_sensor_msgs.do_transform_cloud(cloud, turned())
    assert np.allclose(np.frombuffer(moved.data, ">f4"), [-1, 1, 3, 99, -4, 4, 6, 99], atol=1e-5)


def test_a_cloud_that_leaves_out_its_row_step_is_moved() -> None:
    cloud = PointCloud2(height=1, width=2, fields=FIELDS[:3], point_step=12)
    cloud.data = np.array([1, 2, 3, 4, 5, 6], "<f4").tobytes()
    moved = tf2_sensor_msgs.do_transform_cloud(cloud, turned())
    assert np.allclose(np.frombuffer(moved.data, "<f4"), [-1, 1, 3, -4, 4, 6], atol=1e-5)


def test_rows_without_points_and_rows_that_are_not_there() -> None:
    cloud, transform = point_cloud2.create_cloud_xyz32(Header(), [(1.0, 2.0, 3.0)]), TransformStamped()
    cloud.height = 2**32 - 1
    with pytest.raises(ValueError, match="more than the 12 of data"):
        tf2_sensor_msgs.do_transform_cloud(cloud, transform)
    cloud.width, cloud.row_step, cloud.data = 0, 1, b""
    assert tf2_sensor_msgs.do_transform_cloud(cloud, transform).height == cloud.height


def test_a_transform_in_words() -> None:
    assert euler_from_quaternion(quaternion_from_euler(0.1, -0.2, 0.3)) == pytest.approx((0.1, -0.2, 0.3))
    text = describe(turned())
    assert "- Translation: [1.000, 0.000, 0.000]" in text
    assert "- Rotation: in RPY (degree) [0.000, 0.000, 90.000]" in text
    rows = [[float(number) for number in line.split(",")] for line in text.splitlines()[-4:]]
    assert rows == [[0, -1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_the_program_prints_what_is_published(node: Node) -> None:
    StaticTransformBroadcaster(node).sendTransform(turned())
    echo = subprocess.Popen(
        [sys.executable, "-c", "from tf2_ros.tf2_echo import main; main()", "base", "lidar", "20"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert echo.stdout is not None
    try:
        assert echo.stdout.readline().startswith("At time 0.0")
        assert echo.stdout.readline() == "- Translation: [1.000, 0.000, 0.000]\n"
    finally:
        echo.terminate()
        echo.communicate(timeout=90)
