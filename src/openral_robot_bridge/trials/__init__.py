"""Repeated trials of a skill on the twin of an arm, through a whole deployment or in lockstep."""
