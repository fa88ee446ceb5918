"""The verb of `ros2 extensions`."""
