"""Shared data models and tools: manifests, robots, scenes, contracts, adapters, files and processes.

Importing the package imports neither torch nor a simulator, and ROS only in `ros/`.
"""

__version__ = "0.1.0"
