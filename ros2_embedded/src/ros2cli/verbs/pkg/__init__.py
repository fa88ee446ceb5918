"""Verbs of `ros2 pkg`."""
