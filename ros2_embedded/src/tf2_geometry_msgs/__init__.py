"""Transforms geometry messages; importing this makes them known to `tf2_ros.Buffer.transform`."""

from __future__ import annotations

from tf2_geometry_msgs.tf2_geometry_msgs import (
    do_transform_point,
    do_transform_polygon_stamped,
    do_transform_pose,
    do_transform_pose_stamped,
    do_transform_pose_with_covariance_stamped,
    do_transform_vector3,
    do_transform_wrench,
    transform_covariance,
)

__all__ = [
    "do_transform_point",
    "do_transform_polygon_stamped",
    "do_transform_pose",
    "do_transform_pose_stamped",
    "do_transform_pose_with_covariance_stamped",
    "do_transform_vector3",
    "do_transform_wrench",
    "transform_covariance",
]
