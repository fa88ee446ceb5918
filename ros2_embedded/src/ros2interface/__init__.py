"""What programs import from the ROS 2 package of this name: functions behind `ros2 interface`."""
