"""OpenVLA-OFT checkpoints with action tokens, in a sidecar of their own."""
