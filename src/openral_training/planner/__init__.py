"""Training of the offline planner's matcher on orders that a generator makes."""
