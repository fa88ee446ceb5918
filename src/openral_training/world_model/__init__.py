"""A learnt world: frames, states and rewards of a simulator, imagined from pictures and actions."""
