"""Verbs of `ros2 component`."""
