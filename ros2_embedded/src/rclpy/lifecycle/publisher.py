"""Publishers that send only while their node is active."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle.managed_entity import SimpleManagedEntity
from rclpy.passed_on import pass_on
from rclpy.publisher import Publisher


class LifecyclePublisher(SimpleManagedEntity, Publisher[Any]):
    """Make it with `LifecycleNode.create_lifecycle_publisher`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make a disabled publisher; arguments as for `rclpy.publisher.Publisher`."""
        SimpleManagedEntity.__init__(self)
        Publisher.__init__(self, *args, **kwargs)

    def publish(self, msg: Any) -> None:
        """Send a message; does nothing while the node is not active."""
        if self._enabled:
            Publisher.publish(self, msg)


pass_on(__name__)
