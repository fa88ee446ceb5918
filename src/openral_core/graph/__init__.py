"""Names in the ROS graph, without a dependency on ROS."""
