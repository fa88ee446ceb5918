"""Verbs of `ros2 lifecycle`."""
