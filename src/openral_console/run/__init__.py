"""A finished run over time, shown by the parts of the live page."""
