"""Verbs of `ros2 run`."""
