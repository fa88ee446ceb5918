"""Checkpoints in the file layout of real ones, with random weights: they prove plumbing only."""

LABEL = "random weights, proves plumbing only"
"""Written into the README of every checkpoint made here."""
