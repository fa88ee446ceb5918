"""A Sawyer in MuJoCo behind the ROS 1 topics of Intera 5."""
