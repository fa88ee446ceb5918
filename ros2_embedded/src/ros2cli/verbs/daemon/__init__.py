"""Verbs of `ros2 daemon`."""
