"""Interface files as specifications, under the names of the ROS 2 package `rosidl_adapter`."""
