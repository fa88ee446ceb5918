"""Verbs of `ros2 topic`."""
