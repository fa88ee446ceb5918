"""Helpers for sensor messages: point clouds as numpy arrays."""
