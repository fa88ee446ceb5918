"""What the words mean: manifests, robots, scenes, contracts, adapters.

Importing it brings in no ROS, no torch and no simulator.
"""

__version__ = "0.1.0"
