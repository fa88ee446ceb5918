"""Demonstrations, behaviour cloning and evaluation."""
