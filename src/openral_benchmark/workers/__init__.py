"""Processes that run episodes, on this machine or on a Ray cluster."""
