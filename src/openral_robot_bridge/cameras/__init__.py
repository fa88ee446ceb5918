"""Real cameras: pictures of a topic or a device become those that the scene promises, and are watched meanwhile."""
