"""The functions `(cloud, TransformStamped) -> cloud` of sensor_msgs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header

from sensor_msgs_py.point_cloud2 import dtype_from_fields
from tf2_py.rigid import normalise, rotate
from tf2_ros.buffer_interface import ConvertRegistration, TransformRegistration

_AXES = ("x", "y", "z")


def transform_points(point_cloud: NDArray[Any], transform: Any) -> NDArray[Any]:
    """Points in the frame of a transform.

    Args:
        point_cloud: shape (N, 3) [m].
        transform: `geometry_msgs/msg/Transform`.

    Returns:
        Shape (N, 3) [m], of the type of the points.
    """
    t, q = transform.translation, transform.rotation
    rotation = normalise((q.x, q.y, q.z, q.w))
    # The rows are what the unit vectors become, so that points are rows as well.
    turned = np.array(
        [rotate(rotation, axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    )
    moved = np.asarray(point_cloud) @ turned + np.array([t.x, t.y, t.z])
    return moved.astype(np.asarray(point_cloud).dtype, copy=False)


def do_transform_cloud(cloud: Any, transform: Any) -> Any:
    """A `PointCloud2` in the frame of a `TransformStamped`; fields other than x, y and z stay what they are.

    Raises:
        ValueError: the cloud has no x, y or z, or its data end early.
    """
    missing = sorted(set(_AXES) - {field.name for field in cloud.fields})
    if missing:
        raise ValueError(f"a cloud without {', '.join(missing)} cannot be transformed")
    dtype = dtype_from_fields(cloud.fields, cloud.point_step)
    if cloud.is_bigendian:
        dtype = dtype.newbyteorder(">")
    row = cloud.width * cloud.point_step
    step = max(cloud.row_step, row)  # many leave it out
    data = bytearray(cloud.data)
    if row and cloud.height and len(data) < (cloud.height - 1) * step + row:
        raise ValueError(f"{cloud.height} rows of {step} bytes are more than the {len(data)} of data")
    for begin in range(0, cloud.height * step if row else 0, max(step, 1)):
        points = np.frombuffer(memoryview(data)[begin : begin + row], dtype)
        moved = transform_points(
            np.stack([points[axis].astype(np.float64) for axis in _AXES], axis=1), transform.transform
        )
        for column, axis in enumerate(_AXES):
            points[axis] = moved[:, column]
    return PointCloud2(
        header=Header(stamp=transform.header.stamp, frame_id=transform.header.frame_id),
        height=cloud.height,
        width=cloud.width,
        fields=cloud.fields,
        is_bigendian=cloud.is_bigendian,
        point_step=cloud.point_step,
        row_step=cloud.row_step,
        data=bytes(data),
        is_dense=cloud.is_dense,
    )


def _same(cloud: Any) -> Any:
    return cloud


TransformRegistration().add(PointCloud2, do_transform_cloud)
ConvertRegistration().add_to_msg(PointCloud2, _same)
ConvertRegistration().add_from_msg(PointCloud2, _same)
