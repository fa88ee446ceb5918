"""Policies that can be trained by policy gradients."""
