"""The twin of an arm behind ros2_control."""
