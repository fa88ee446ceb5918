"""The node `sim_bridge` with the topics and services of a simulated world."""
