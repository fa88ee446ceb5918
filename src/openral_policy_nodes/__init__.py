"""Lifecycle nodes that host skills, and the policy families whose models they run."""
