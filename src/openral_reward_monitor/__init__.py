"""How far a task got: frame window, reward models, readings."""
