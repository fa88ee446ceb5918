"""What the nodes `sim_bridge` and `robot_bridge` share: admission, emergency stop, status, the robot's topics."""
