"""Detectors: they find in an image the objects that words name."""
