"""The verbs of `ros2`, one module each."""
