"""Vectorised environments, and rollouts of a policy in them."""
