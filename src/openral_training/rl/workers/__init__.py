"""Processes with environments, rollouts and learners, and where each of them runs."""
