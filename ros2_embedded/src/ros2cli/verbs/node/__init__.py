"""Verbs of `ros2 node`."""
