"""Verbs of `ros2 bag`."""
