"""Scripted experts and the worlds they act in, one module for each simulator."""
