"""A subscription as the beginning of a chain of filters."""

from __future__ import annotations

from typing import Any

from message_filters.simple_filter import SimpleFilter


class Subscriber(SimpleFilter):
    """Passes on the messages of one topic.

    Attributes of the subscription, such as `qos_profile`, can be read from the filter.

    Attributes:
        node: the node that subscribes.
        topic: the name of the topic as it was given.
        sub: the subscription.
    """

    def __init__(
        self, node: Any, msg_type: type[Any], topic: str, qos_profile: Any = 10, **kwargs: Any
    ) -> None:
        """Subscribe.

        Args:
            node: the node that subscribes.
            msg_type: the class of the messages.
            topic: name of the topic.
            qos_profile: quality of service, or the depth of the queue.
            kwargs: further arguments of `rclpy.node.Node.create_subscription`.
        """
        super().__init__()
        self.node = node
        self.topic = topic
        self.sub = node.create_subscription(msg_type, topic, self.callback, qos_profile, **kwargs)

    def callback(self, msg: Any) -> None:
        """Take a message of the subscription."""
        self.signalMessage(msg)

    def getTopic(self) -> str:
        """The name of the topic as it was given."""
        return self.topic

    def __getattr__(self, key: str) -> Any:
        # Reached for what the filter itself does not have; `sub` is missing while the filter is being made.
        if key == "sub":
            raise AttributeError(key)
        return getattr(self.sub, key)
