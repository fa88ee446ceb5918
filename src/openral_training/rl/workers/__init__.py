"""Processes with environments, rollouts and learners, and their placement."""
