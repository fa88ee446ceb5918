"""Detectors: from a picture and words to places in the picture."""
