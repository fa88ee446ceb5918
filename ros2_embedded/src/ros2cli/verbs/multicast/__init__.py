"""Verbs of `ros2 multicast`."""
