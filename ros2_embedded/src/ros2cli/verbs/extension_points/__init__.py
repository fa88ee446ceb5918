"""The verb of `ros2 extension_points`."""
