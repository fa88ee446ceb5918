"""The node `sim_bridge`: the topics and services of a simulated world."""
