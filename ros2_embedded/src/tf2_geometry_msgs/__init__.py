"""Transforms geometry messages; importing this makes them known to `tf2_ros.Buffer.transform`.

The messages can be imported from here as well, as in ROS 2.
"""

from __future__ import annotations

from geometry_msgs.msg import (
    PointStamped,
    PolygonStamped,
    Pose,
    PoseStamped,
    PoseWithCovarianceStamped,
    TransformStamped,
    Vector3Stamped,
    WrenchStamped,
)

from tf2_geometry_msgs.tf2_geometry_msgs import (
    do_transform_point,
    do_transform_polygon_stamped,
    do_transform_pose,
    do_transform_pose_stamped,
    do_transform_pose_with_covariance_stamped,
    do_transform_vector3,
    do_transform_wrench,
    from_msg_msg,
    to_msg_msg,
    transform_covariance,
)

__all__ = [
    "PointStamped",
    "PolygonStamped",
    "Pose",
    "PoseStamped",
    "PoseWithCovarianceStamped",
    "TransformStamped",
    "Vector3Stamped",
    "WrenchStamped",
    "do_transform_point",
    "do_transform_polygon_stamped",
    "do_transform_pose",
    "do_transform_pose_stamped",
    "do_transform_pose_with_covariance_stamped",
    "do_transform_vector3",
    "do_transform_wrench",
    "from_msg_msg",
    "to_msg_msg",
    "transform_covariance",
]
