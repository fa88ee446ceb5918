"""The node `robot_bridge`: the operator's sign of life, recovery, and the robot's topics on the wall clock."""
