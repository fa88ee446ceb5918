"""The `rldx` family: RLDX-1 checkpoints, served by upstream's own code in a sidecar (docs/bring-your-checkpoint.md)."""
