"""What programs import from the ROS 2 package of this name: functions of `ros2 launch`, and its options."""
