"""Transforms point clouds; importing this makes them known to `tf2_ros.Buffer.transform`."""

from __future__ import annotations

from tf2_sensor_msgs.tf2_sensor_msgs import do_transform_cloud, transform_points

__all__ = ["do_transform_cloud", "transform_points"]
