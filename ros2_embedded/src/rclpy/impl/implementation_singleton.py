"""Where programs import the C extension of rclpy from; see `rclpy._rclpy_pybind11`."""

from rclpy import _rclpy_pybind11 as rclpy_implementation

__all__ = ["rclpy_implementation"]
