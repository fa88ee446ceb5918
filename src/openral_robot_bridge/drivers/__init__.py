"""Drivers of arms by the clients that their makers and users keep."""
