"""The types of interface fields, under the names of the ROS 2 package `rosidl_parser`."""

from . import definition

__all__ = ["definition"]
