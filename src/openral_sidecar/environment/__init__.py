"""The environment of a sidecar: what it is made of, how it is built, and where it lies."""
