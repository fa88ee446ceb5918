"""Training of the offline planner's matcher on generated orders."""
