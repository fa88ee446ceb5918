"""The common part of openral's own `mini` policies and reward models; its modules need torch."""

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
"""Names of the files of a checkpoint; see `checkpoint`."""
