"""What openral's own `mini` models share, policies and reward models alike. The one part of core that needs torch."""

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
"""Files of a checkpoint, see `checkpoint`."""
