"""Policies that can be trained by policy gradients, and what they begin from."""
