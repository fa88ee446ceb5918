"""The driver of arms behind ros2_control: trajectories, the controller manager, a gripper, recovery."""
