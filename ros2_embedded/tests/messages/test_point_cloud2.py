"""Point clouds to numpy and back."""

from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import PointField
from std_msgs.msg import Header

from sensor_msgs_py import point_cloud2

POINTS = [(1.0, 2.0, 3.0), (4.0, float("nan"), 6.0), (7.0, 8.0, 9.0)]


def test_round_trip() -> None:
    cloud = point_cloud2.create_cloud_xyz32(Header(frame_id="lidar"), POINTS)
    assert (cloud.width, cloud.height, cloud.point_step, cloud.row_step) == (3, 1, 12, 36)
    points = point_cloud2.read_points(cloud)
    assert points.dtype.names == ("x", "y", "z")
    assert np.array_equal(points["x"], [1, 4, 7])
    assert point_cloud2.read_points_list(cloud, ["z"])[2].z == 9.0


def test_rows_may_be_padded() -> None:
    cloud = point_cloud2.create_cloud_xyz32(Header(), [[POINTS[0]], [POINTS[2]]])
    cloud.width, cloud.height, cloud.row_step = 1, 2, 20
    cloud.data = bytes(cloud.data[:12]) + b"\xff" * 8 + bytes(cloud.data[12:])
    assert np.array_equal(point_cloud2.read_points_numpy(cloud), [POINTS[0], POINTS[2]])
    cloud.data = bytes(cloud.data) + b"\xff" * 8
    assert np.array_equal(point_cloud2.read_points(cloud)["x"], [1, 7])


def test_selection() -> None:
    cloud = point_cloud2.create_cloud_xyz32(Header(), POINTS)
    assert np.array_equal(point_cloud2.read_points_numpy(cloud, skip_nans=True), [[1, 2, 3], [7, 8, 9]])
    assert len(point_cloud2.read_points(cloud, ["x", "z"], skip_nans=True)) == 3  # a nan in y does not matter
    assert np.array_equal(point_cloud2.read_points(cloud, uvs=[2])["y"], [8])
    with pytest.raises(ValueError, match="no field w"):
        point_cloud2.read_points(cloud, ["w"])


def test_mixed_types_padding_and_organised() -> None:
    fields = [
        PointField(name="x", offset=0, datatype=PointField.FLOAT32, count=1),
        PointField(name="rgb", offset=4, datatype=PointField.UINT8, count=3),
    ]
    dtype = point_cloud2.dtype_from_fields(fields, 16)
    assert (dtype.itemsize, dtype.names) == (16, ("x", "rgb_0", "rgb_1", "rgb_2"))
    grid = np.zeros((2, 3), dtype)
    grid["rgb_1"] = [[1, 2, 3], [4, 5, 6]]
    cloud = point_cloud2.create_cloud(Header(), fields, grid, 16)
    assert (cloud.width, cloud.height, len(cloud.data)) == (2, 3, 96)
    back = point_cloud2.read_points(cloud, reshape_organized_cloud=True)
    assert np.array_equal(back["rgb_1"], grid["rgb_1"])
    assert np.array_equal(np.frombuffer(cloud.data, dtype), grid.ravel())
    with pytest.raises(AssertionError, match="different types"):
        point_cloud2.read_points_numpy(cloud)


def test_structured_points_with_padding() -> None:
    fields = [
        PointField(name="x", offset=0, datatype=PointField.FLOAT32, count=1),
        PointField(name="id", offset=8, datatype=PointField.UINT8, count=1),
    ]
    spread = np.dtype({"names": ["x", "id"], "formats": ["f4", "u1"], "offsets": [0, 8], "itemsize": 16})
    points = np.zeros(2, spread)
    points["id"] = [3, 4]
    cloud = point_cloud2.create_cloud(Header(), fields, points)
    assert cloud.point_step == 16
    assert np.array_equal(point_cloud2.read_points(cloud)["id"], [3, 4])
    with pytest.raises(AssertionError, match="points have 16 bytes each, not 9 as asked for"):
        point_cloud2.create_cloud(Header(), fields, points, 9)
    tight = points.astype([("x", "f4"), ("id", "u1")])
    assert point_cloud2.read_points(point_cloud2.create_cloud(Header(), fields, tight))["id"].tolist() == [
        3,
        4,
    ]


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="need 3"):
        point_cloud2.create_cloud_xyz32(Header(), [(1.0, 2.0)])
    assert point_cloud2.create_cloud_xyz32(Header(), []).width == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"datatype": 99}, "datatype 99"),
        ({"count": 2**32 - 1}, "ends at byte 17179869180"),
        ({"offset": 9}, "ends at byte 13"),
    ],
)
def test_a_field_that_is_none_of_its_points_is_refused(changes: dict[str, int], words: str) -> None:
    cloud = point_cloud2.create_cloud_xyz32(Header(), POINTS)
    for name, value in changes.items():
        setattr(cloud.fields[0], name, value)
    with pytest.raises(point_cloud2.PointCloudError, match=words):
        point_cloud2.read_points(cloud)


def test_data_that_end_early_are_refused() -> None:
    cloud = point_cloud2.create_cloud_xyz32(Header(), POINTS)
    cloud.width = 4
    with pytest.raises(point_cloud2.PointCloudError, match="4 points of 12 bytes are more than the 36"):
        point_cloud2.read_points(cloud)
