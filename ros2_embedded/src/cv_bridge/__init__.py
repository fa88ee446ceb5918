"""ROS images as OpenCV arrays and back, under the names of the ROS 2 package `cv_bridge`; needs OpenCV.

pip install "ros2-embedded[cv]"
"""

from .core import CvBridge, CvBridgeError

__all__ = ["CvBridge", "CvBridgeError"]
