"""Verbs of `ros2 param`."""
