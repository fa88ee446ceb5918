"""The ROS graph as far as it can be known without ROS."""
