"""Reward models: they estimate progress and success from a window of images and an instruction."""
