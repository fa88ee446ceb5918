"""Common parts of the processes of nodes, without ROS."""
