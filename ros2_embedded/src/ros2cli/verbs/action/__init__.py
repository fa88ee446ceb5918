"""Verbs of `ros2 action`."""
