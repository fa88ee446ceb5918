"""What programs import from the ROS 2 package of this name: the checks and reports behind `ros2 doctor`."""
