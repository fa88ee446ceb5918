"""Twin of a Sawyer behind the ROS 1 topics of Intera 5."""
