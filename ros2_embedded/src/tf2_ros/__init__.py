"""Transforms over ROS: broadcasters, a listener, and the buffer that answers."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped

from tf2_py import (
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)
from tf2_ros.buffer import Buffer
from tf2_ros.buffer_client import BufferClient
from tf2_ros.buffer_interface import (
    BufferInterface,
    ConvertRegistration,
    NotImplementedException,
    Stamped,
    TransformRegistration,
    TypeException,
)
from tf2_ros.buffer_server import BufferServer
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from tf2_ros.static_transform_listener import StaticTransformListener
from tf2_ros.transform_broadcaster import TransformBroadcaster
from tf2_ros.transform_listener import TransformListener

__all__ = [
    "Buffer",
    "BufferClient",
    "BufferCore",
    "BufferInterface",
    "BufferServer",
    "ConnectivityException",
    "ConvertRegistration",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "NotImplementedException",
    "Stamped",
    "StaticTransformBroadcaster",
    "StaticTransformListener",
    "TimeoutException",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
    "TransformRegistration",
    "TransformStamped",
    "TypeException",
]
