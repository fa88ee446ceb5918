"""Verbs of `ros2 doctor`."""
