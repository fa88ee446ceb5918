"""Simulators that implement `Backend`, each in a folder of its own."""
