"""What programs import from the ROS 2 package of this name: what verbs of `ros2 bag` need."""
