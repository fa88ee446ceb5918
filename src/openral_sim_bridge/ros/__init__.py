"""The node `sim_bridge`: its topics, services and emergency stop."""
