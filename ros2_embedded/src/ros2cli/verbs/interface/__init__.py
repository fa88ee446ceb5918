"""Verbs of `ros2 interface`."""
