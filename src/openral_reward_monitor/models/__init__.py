"""Reward models: from a window of images and an instruction to progress and success."""
