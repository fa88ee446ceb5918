"""`openral reasoner eval`: written missions in a simulated deployment, the same for every planner."""
