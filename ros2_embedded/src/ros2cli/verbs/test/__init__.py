"""ros2 test."""
