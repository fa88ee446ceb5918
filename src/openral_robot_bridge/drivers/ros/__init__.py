"""The driver of arms that ros2_control moves: trajectories, the controller manager, a gripper, recovery."""
