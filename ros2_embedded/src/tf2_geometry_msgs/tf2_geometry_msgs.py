"""The functions `(message, TransformStamped) -> message` of geometry_msgs."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from geometry_msgs.msg import (
    Point32,
    PointStamped,
    PolygonStamped,
    Pose,
    PoseStamped,
    PoseWithCovarianceStamped,
    Vector3Stamped,
    WrenchStamped,
)
from numpy.typing import NDArray

from tf2_py.rigid import Quaternion, Rigid, Vector, multiply, normalise, rotate
from tf2_ros.buffer_interface import ConvertRegistration, TransformRegistration


def _rigid(transform: Any) -> Rigid:
    """Of a `TransformStamped`."""
    t, q = transform.transform.translation, transform.transform.rotation
    return Rigid((t.x, t.y, t.z), normalise((q.x, q.y, q.z, q.w)))


def _moved(rigid: Rigid, point: Any) -> Vector:
    """A point: rotated, then shifted."""
    x, y, z = rotate(rigid.rotation, (point.x, point.y, point.z))
    return x + rigid.translation[0], y + rigid.translation[1], z + rigid.translation[2]


def _matrix(q: Quaternion) -> NDArray[np.float64]:
    """The 3x3 matrix of a rotation."""
    columns = [rotate(q, axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    return np.array(columns).T


def do_transform_point(point: Any, transform: Any) -> Any:
    """A `PointStamped` in the frame of the transform."""
    result = PointStamped(header=copy.deepcopy(transform.header))
    result.point.x, result.point.y, result.point.z = _moved(_rigid(transform), point.point)
    return result


def do_transform_vector3(vector3: Any, transform: Any) -> Any:
    """A `Vector3Stamped`, which is a direction: rotated, not shifted."""
    v = vector3.vector
    result = Vector3Stamped(header=copy.deepcopy(transform.header))
    result.vector.x, result.vector.y, result.vector.z = rotate(_rigid(transform).rotation, (v.x, v.y, v.z))
    return result


def do_transform_pose(pose: Any, transform: Any) -> Any:
    """A `Pose` (without header)."""
    rigid, q = _rigid(transform), pose.orientation
    result = Pose()
    result.position.x, result.position.y, result.position.z = _moved(rigid, pose.position)
    x, y, z, w = multiply(rigid.rotation, (q.x, q.y, q.z, q.w))
    sign = -1.0 if w < 0 else 1.0  # of the two quaternions of a rotation the one that tf2 gives
    o = result.orientation
    o.x, o.y, o.z, o.w = sign * x, sign * y, sign * z, sign * w
    return result


def do_transform_pose_stamped(pose: Any, transform: Any) -> Any:
    """A `PoseStamped`."""
    return PoseStamped(header=copy.deepcopy(transform.header), pose=do_transform_pose(pose.pose, transform))


def transform_covariance(cov_in: Any, transform: Any) -> NDArray[np.float64]:
    """A 6x6 covariance (x, y, z, rotations about x, y, z; 36 numbers by row) turned by a `TransformStamped`.

    R C R^T with R the block diagonal of the rotation, for the small rotations are about fixed axes.
    """
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = _matrix(_rigid(transform).rotation)
    covariance = np.asarray(cov_in, np.float64).reshape(6, 6)
    return (turn @ covariance @ turn.T).reshape(36)


def do_transform_pose_with_covariance_stamped(pose: Any, transform: Any) -> Any:
    """A `PoseWithCovarianceStamped`."""
    result = PoseWithCovarianceStamped(header=copy.deepcopy(transform.header))
    result.pose.pose = do_transform_pose(pose.pose.pose, transform)
    result.pose.covariance = transform_covariance(pose.pose.covariance, transform)
    return result


def do_transform_polygon_stamped(polygon: Any, transform: Any) -> Any:
    """A `PolygonStamped`."""
    rigid = _rigid(transform)
    result = PolygonStamped(header=copy.deepcopy(transform.header))
    for point in polygon.polygon.points:
        x, y, z = _moved(rigid, point)
        result.polygon.points.append(Point32(x=x, y=y, z=z))
    return result


def do_transform_wrench(wrench: Any, transform: Any) -> Any:
    """A `WrenchStamped`: force and torque turned; the torque stays about its own origin, as in tf2."""
    rotation, w = _rigid(transform).rotation, wrench.wrench
    result = WrenchStamped(header=copy.deepcopy(transform.header))
    f, t = result.wrench.force, result.wrench.torque
    f.x, f.y, f.z = rotate(rotation, (w.force.x, w.force.y, w.force.z))
    t.x, t.y, t.z = rotate(rotation, (w.torque.x, w.torque.y, w.torque.z))
    return result


_FUNCTIONS = {
    PointStamped: do_transform_point,
    Vector3Stamped: do_transform_vector3,
    PoseStamped: do_transform_pose_stamped,
    PoseWithCovarianceStamped: do_transform_pose_with_covariance_stamped,
    PolygonStamped: do_transform_polygon_stamped,
    WrenchStamped: do_transform_wrench,
}


def to_msg_msg(msg: Any) -> Any:
    """The message itself: messages need no conversion."""
    return msg


def from_msg_msg(msg: Any) -> Any:
    """The message itself: messages need no conversion."""
    return msg


for _kind, _function in _FUNCTIONS.items():
    TransformRegistration().add(_kind, _function)
    ConvertRegistration().add_to_msg(_kind, to_msg_msg)
    ConvertRegistration().add_from_msg(_kind, from_msg_msg)
