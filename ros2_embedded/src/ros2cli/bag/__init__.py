"""Recording and playing of bags."""
