"""Demonstrations, behaviour cloning, reward models, reinforcement learning, world models, the planner."""
