"""What programs import from the ROS 2 package of this name: checks and reports of a ROS system."""
