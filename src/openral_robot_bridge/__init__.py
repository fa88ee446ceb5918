"""Real arms: their drivers, what leads them, and simulated twins of their controllers."""
