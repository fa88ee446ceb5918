"""Verbs of `ros2 launch`."""
