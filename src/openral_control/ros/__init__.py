"""The ROS parts that the nodes `sim_bridge` and `robot_bridge` share: admission, emergency stop, status and topics."""
