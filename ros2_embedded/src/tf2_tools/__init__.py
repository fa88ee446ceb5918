"""Tools that show the frames of a system."""
