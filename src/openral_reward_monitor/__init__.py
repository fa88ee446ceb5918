"""The frame window, the reward models and the node that answers how far a task got."""
