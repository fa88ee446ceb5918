"""`sensor_msgs/msg/PointCloud2` to numpy and back."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField

_DATATYPES: dict[int, Any] = {
    PointField.INT8: np.dtype(np.int8),
    PointField.UINT8: np.dtype(np.uint8),
    PointField.INT16: np.dtype(np.int16),
    PointField.UINT16: np.dtype(np.uint16),
    PointField.INT32: np.dtype(np.int32),
    PointField.UINT32: np.dtype(np.uint32),
    PointField.FLOAT32: np.dtype(np.float32),
    PointField.FLOAT64: np.dtype(np.float64),
}
DUMMY_FIELD_PREFIX = "unnamed_field"


class PointCloudError(ValueError, AssertionError):
    """Points, fields and options do not fit each other; AssertionError, as in ROS 2, and ValueError."""


def dtype_from_fields(fields: Iterable[Any], point_step: int | None = None) -> np.dtype[Any]:
    """The structured type of one point.

    Args:
        fields: `sensor_msgs/msg/PointField`; one of a count above 1 becomes `<name>_0`, `<name>_1`, ...
        point_step: size of a point [bytes], padding included; None takes the sum of the fields.

    Raises:
        PointCloudError: a field has an unknown type or is not within the point.
        ValueError: the fields do not make a type.
    """
    names: list[str] = []
    formats: list[Any] = []
    offsets: list[int] = []
    for index, field in enumerate(fields):
        datatype = _DATATYPES.get(field.datatype)
        if datatype is None:
            raise PointCloudError(f"field '{field.name}' has the datatype {field.datatype}, which is none")
        end = field.offset + field.count * datatype.itemsize
        if point_step is not None and end > point_step:  # asked first, as a count may be any number
            raise PointCloudError(f"field '{field.name}' ends at byte {end} of points of {point_step}")
        name = field.name or f"{DUMMY_FIELD_PREFIX}_{index}"
        for element in range(field.count):
            names.append(name if field.count == 1 else f"{name}_{element}")
            formats.append(datatype)
            offsets.append(field.offset + element * datatype.itemsize)
    if len(set(names)) < len(names):
        raise ValueError(f"two fields of a point have the same name: {names}")
    layout: dict[str, Any] = {"names": names, "formats": formats, "offsets": offsets}
    if point_step is not None:
        layout["itemsize"] = point_step
    dtype: np.dtype[Any] = np.dtype(cast(Any, layout))
    return dtype


def read_points(
    cloud: Any,
    field_names: list[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | NDArray[Any] | None = None,
    reshape_organized_cloud: bool = False,
) -> NDArray[Any]:
    """The points as a structured array.

    Args:
        cloud: `sensor_msgs/msg/PointCloud2`.
        field_names: fields wanted; None takes all.
        skip_nans: leave out points in which a wanted field is not a number.
        uvs: indices of the points wanted; None takes all.
        reshape_organized_cloud: give an organised cloud the shape (width, height); not with the two above.

    Returns:
        Shape (N,) or (width, height); a view of the message's data when nothing is left out
            and its rows have no padding.

    Raises:
        PointCloudError: a field does not exist, the data end early, or the options contradict each other.
    """
    data, row = memoryview(cloud.data), cloud.width * cloud.point_step
    padded = cloud.height > 1 and cloud.row_step > row
    if padded and len(data) >= (cloud.height - 1) * cloud.row_step + row:
        # A row goes on behind its points: a copy leaves out what is there.
        rows = [
            data[begin : begin + row] for begin in range(0, cloud.height * cloud.row_step, cloud.row_step)
        ]
        data = memoryview(bytearray(b"".join(rows)))
    dtype, count = dtype_from_fields(cloud.fields, cloud.point_step), cloud.width * cloud.height
    if len(data) < count * dtype.itemsize:
        raise PointCloudError(
            f"{count} points of {dtype.itemsize} bytes are more than the {len(data)} of data"
        )
    points: NDArray[Any] = np.ndarray(shape=(count,), dtype=dtype, buffer=data)
    if field_names is not None:
        names = points.dtype.names or ()
        missing = [name for name in field_names if name not in names]
        if missing:
            raise PointCloudError(f"the cloud has no field {', '.join(missing)}; it has {', '.join(names)}")
        points = points[list(field_names)]
    if bool(sys.byteorder != "little") != bool(cloud.is_bigendian):
        points = points.byteswap()
    if skip_nans and not cloud.is_dense:
        valid = np.ones(len(points), bool)
        for name in points.dtype.names or ():
            valid &= ~np.isnan(points[name])
        points = points[valid]
    if uvs is not None:
        points = points[np.asarray(list(uvs), int)]
    if reshape_organized_cloud and cloud.height > 1:
        if skip_nans or uvs is not None:
            raise PointCloudError("points were left out, so that the rest has no shape (width, height)")
        points = points.reshape(cloud.width, cloud.height)
    return points


def read_points_numpy(
    cloud: Any,
    field_names: list[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | NDArray[Any] | None = None,
    reshape_organized_cloud: bool = False,
) -> NDArray[Any]:
    """The points as a plain array of shape (N, fields); see `read_points`.

    Raises:
        PointCloudError: also when the fields have different types.
    """
    points = read_points(cloud, field_names, skip_nans, uvs, reshape_organized_cloud)
    kinds = {points.dtype[name] for name in points.dtype.names or ()}
    if len(kinds) > 1:
        raise PointCloudError(f"the fields have different types {sorted(map(str, kinds))}; use field_names")
    return structured_to_unstructured(points)


def read_points_list(
    cloud: Any,
    field_names: list[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | NDArray[Any] | None = None,
) -> list[Any]:
    """The points as a list of named tuples; see `read_points`."""
    points = read_points(cloud, field_names, skip_nans, uvs)
    names: list[str] = list(points.dtype.names or ())
    point_type: Any = namedtuple("Point", names)  # type: ignore[misc]
    return [point_type(*point) for point in points.tolist()]


def create_cloud(
    header: Any, fields: Iterable[Any], points: Any, step: int | None = None, point_step: int | None = None
) -> Any:
    """A cloud of points.

    Args:
        header: `std_msgs/msg/Header`.
        fields: `sensor_msgs/msg/PointField` of each field.
        points: structured array, or anything of shape (N, fields) or (width, height, fields).
        step: size of a point [bytes]; None takes what the fields need, or that of structured points.
        point_step: the same, under its newer name.

    Returns:
        `sensor_msgs/msg/PointCloud2`.

    Raises:
        PointCloudError: the points do not have the fields.
    """
    fields = list(fields)
    dtype = dtype_from_fields(fields, point_step if point_step is not None else step)
    array = np.asarray(points)
    if array.dtype.names is None:
        count = len(dtype.names or ())
        array = array.reshape(0, count) if array.size == 0 else array
        if array.shape[-1] != count:
            raise PointCloudError(f"points have {array.shape[-1]} values, the fields need {count}")
        array = unstructured_to_structured(array, dtype)
    elif array.dtype != dtype:
        array, dtype = _with_layout(array, fields, dtype, point_step is None and step is None)
    width, height = array.shape if array.ndim == 2 else (array.size, 1)
    cloud = PointCloud2(header=header, height=height, width=width, fields=fields)
    cloud.is_bigendian, cloud.is_dense = sys.byteorder != "little", False
    cloud.point_step, cloud.row_step = dtype.itemsize, dtype.itemsize * width
    cloud.data.frombytes(np.ascontiguousarray(array).tobytes())
    return cloud


def _with_layout(
    array: NDArray[Any], fields: list[Any], dtype: np.dtype[Any], free: bool
) -> tuple[NDArray[Any], np.dtype[Any]]:
    """Points of a structured type with padding, or with its fields at other offsets, as the fields say.

    Args:
        array: the points.
        fields: the fields.
        dtype: what they give.
        free: whether a point may be larger than the fields need.
    """
    padded = dtype_from_fields(fields, max(array.dtype.itemsize, dtype.itemsize)) if free else dtype
    if array.dtype == padded:
        return array, padded
    if not free and array.dtype.itemsize != dtype.itemsize:
        raise PointCloudError(
            f"points have {array.dtype.itemsize} bytes each, not {dtype.itemsize} as asked for"
        )
    wanted = {name: dtype[name] for name in dtype.names or ()}
    if {name: array.dtype[name] for name in array.dtype.names or ()} != wanted:
        raise PointCloudError(f"points have the layout {array.dtype}, the fields give {dtype}")
    arranged = np.zeros(array.shape, dtype)
    for name in wanted:
        arranged[name] = array[name]
    return arranged, dtype


def create_cloud_xyz32(header: Any, points: Any, step: int | None = None) -> Any:
    """A cloud of points with float32 x, y and z."""
    fields = [
        PointField(name=name, offset=4 * index, datatype=PointField.FLOAT32, count=1)
        for index, name in enumerate("xyz")
    ]
    return create_cloud(header, fields, points, step)
