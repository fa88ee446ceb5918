"""Verbs of `ros2 service`."""
