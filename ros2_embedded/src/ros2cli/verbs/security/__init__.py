"""Verbs of `ros2 security`."""
