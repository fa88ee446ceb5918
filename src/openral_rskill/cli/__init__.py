"""`openral rskill`."""
