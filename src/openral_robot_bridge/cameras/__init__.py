"""Real cameras: images of a ROS topic or a device are fitted to the scene's cameras, and their health is monitored."""
