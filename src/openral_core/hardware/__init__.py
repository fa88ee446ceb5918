"""What a scene says of real cameras, and of the controllers of an arm that ros2_control moves."""
