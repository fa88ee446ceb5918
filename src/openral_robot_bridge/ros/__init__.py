"""ROS nodes of a real arm: `robot_bridge`, `camera_bridge`, and the operator of trials."""
