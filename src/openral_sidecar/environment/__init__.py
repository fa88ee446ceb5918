"""The Python environment of a sidecar: its specification, its build, and its folder."""
