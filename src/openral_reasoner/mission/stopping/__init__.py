"""Stops: which words mean one, and that every motion ends."""
