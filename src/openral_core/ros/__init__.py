"""What the nodes of every package share and what needs rclpy."""
