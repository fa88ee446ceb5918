"""Monitors the progress of a task from camera images: frame windows, reward models and readings."""
