"""Simulators behind `Backend`, one folder a simulator."""
