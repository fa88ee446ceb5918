"""Filters of messages: subscriptions whose messages are stored, or put together by their time.

`message_filters` of ROS 2 Jazzy in Python. A filter takes messages from a subscription or from another filter
and hands them on to its callbacks.
"""

from __future__ import annotations

from message_filters.approximate import ApproximateTimeSynchronizer
from message_filters.cache import Cache
from message_filters.chain import Chain
from message_filters.simple_filter import SimpleFilter
from message_filters.subscriber import Subscriber
from message_filters.synchronizer import TimeSynchronizer

__all__ = ["ApproximateTimeSynchronizer", "Cache", "Chain", "SimpleFilter", "Subscriber", "TimeSynchronizer"]
