"""The small detector: closed labels, colours, milliseconds on a CPU core."""
