"""Launch tests of ROS systems: waiting for topics, and a domain of their own."""

from . import tools
from .message_pump import MessagePump
from .test_runner import LaunchTestRunner
from .wait_for_topics import WaitForTopics

__all__ = ["LaunchTestRunner", "MessagePump", "WaitForTopics", "tools"]
