"""Schemas of a scene's real cameras and of arms under ros2_control, and reading of URDFs."""
