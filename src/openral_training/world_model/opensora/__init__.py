"""World models in the layout that RLinf publishes: an OpenSora video transformer told the robot's actions."""
