"""What can be transformed: the interface of buffers, and the registry of transformable types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from std_msgs.msg import Header

from rclpy.clock_type import ClockType
from rclpy.time import Time
from tf2_py.exceptions import InvalidArgumentException
from tf2_py.times import SomeDuration, SomeTime, as_nanoseconds


class Stamped:
    """An object with the frame and the time that it is given in."""

    def __init__(self, obj: Any, stamp: SomeTime, frame_id: str) -> None:
        """Keep all three, frame and time in a `header`."""
        self.obj = obj
        self.header = Header(stamp=_time_of(stamp).to_msg(), frame_id=frame_id)


def _time_of(stamp: SomeTime) -> Time:
    """A stamp as a time of ROS.

    Raises:
        InvalidArgumentException: it is negative, which messages can be and times cannot.
    """
    nanoseconds = as_nanoseconds(stamp)
    if nanoseconds < 0:
        raise InvalidArgumentException(f"the stamp {nanoseconds / 1e9:.6f} is before the clock's zero")
    return Time(nanoseconds=nanoseconds, clock_type=ClockType.ROS_TIME)


class TypeException(Exception):
    """No function is registered for the type; import the package that transforms it, `tf2_geometry_msgs`
    for geometry messages.
    """

    def __init__(self, errstr: str) -> None:
        """Keep the text as `errstr` too."""
        super().__init__(errstr)
        self.errstr = errstr


class NotImplementedException(Exception):
    """The buffer cannot do this."""

    def __init__(self) -> None:
        """Use the usual text."""
        super().__init__("CanTransform or LookupTransform not implemented")


class TransformRegistration:
    """The functions `(object, TransformStamped) -> object` by type."""

    _functions: dict[type, Callable[[Any, Any], Any]] = {}  # noqa: RUF012 - one registry for the process

    def add(self, key: type, callback: Callable[[Any, Any], Any]) -> None:
        """Register the function of a type."""
        self._functions[key] = callback

    def get(self, key: type) -> Callable[[Any, Any], Any]:
        """The function of a type.

        Raises:
            TypeException: none is registered.
        """
        if key not in self._functions:
            raise TypeException(f"Type {key} if not loaded or supported; is its tf2 package imported?")
        return self._functions[key]


class ConvertRegistration:
    """The functions that turn other types into messages and back."""

    _to_msg: dict[type, Callable[[Any], Any]] = {}  # noqa: RUF012
    _from_msg: dict[type, Callable[[Any], Any]] = {}  # noqa: RUF012
    _convert: dict[tuple[type, type], Callable[[Any], Any]] = {}  # noqa: RUF012

    def add_from_msg(self, key: type, callback: Callable[[Any], Any]) -> None:
        """Register how to make a type from a message."""
        self._from_msg[key] = callback

    def add_to_msg(self, key: type, callback: Callable[[Any], Any]) -> None:
        """Register how to make a message from a type."""
        self._to_msg[key] = callback

    def add_convert(self, key: tuple[type, type], callback: Callable[[Any], Any]) -> None:
        """Register a direct conversion (from, to)."""
        self._convert[key] = callback

    def get_from_msg(self, key: type) -> Callable[[Any], Any]:
        """The registered function; TypeException without one."""
        return _registered(self._from_msg, key)

    def get_to_msg(self, key: type) -> Callable[[Any], Any]:
        """The registered function; TypeException without one."""
        return _registered(self._to_msg, key)

    def get_convert(self, key: tuple[type, type]) -> Callable[[Any], Any]:
        """The registered function; TypeException without one."""
        return _registered(self._convert, key)


def _registered(registry: dict[Any, Callable[[Any], Any]], key: Any) -> Callable[[Any], Any]:
    if key not in registry:
        raise TypeException(f"Type {key} if not loaded or supported; is its tf2 package imported?")
    return registry[key]


def convert(a: Any, b_type: type) -> Any:
    """Turn an object into another type, directly or by way of a message.

    Raises:
        TypeException: no conversion is registered.
    """
    registration = ConvertRegistration()
    try:
        return registration.get_convert((type(a), b_type))(a)
    except TypeException:
        if isinstance(a, b_type):
            return a
        return registration.get_from_msg(b_type)(registration.get_to_msg(type(a))(a))


class BufferInterface:
    """Transforms objects with the lookups of a subclass."""

    def __init__(self) -> None:
        """Use the process's registry."""
        self.registration = TransformRegistration()

    def transform(
        self,
        object_stamped: Any,
        target_frame: str,
        timeout: SomeDuration | None = None,
        new_type: type | None = None,
    ) -> Any:
        """An object in another frame, at the time of its stamp.

        Args:
            object_stamped: has `header.frame_id` and `header.stamp`.
            target_frame: frame of the result.
            timeout: how long to wait for the transform; None does not wait.
            new_type: type of the result; None keeps the type.

        Raises:
            TypeException: the type cannot be transformed.
            TransformException: see `lookup_transform`.
        """
        function = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform(target_frame, header.frame_id, _time_of(header.stamp), timeout)
        result = function(object_stamped, found)
        return result if new_type is None else convert(result, new_type)

    def transform_full(
        self,
        object_stamped: Any,
        target_frame: str,
        target_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
        new_type: type | None = None,
    ) -> Any:
        """As `transform`, at another time, through a frame that did not move between the two."""
        function = self.registration.get(type(object_stamped))
        header = object_stamped.header
        found = self.lookup_transform_full(
            target_frame, target_time, header.frame_id, _time_of(header.stamp), fixed_frame, timeout
        )
        result = function(object_stamped, found)
        return result if new_type is None else convert(result, new_type)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: SomeTime, timeout: SomeDuration | None = None
    ) -> Any:
        """The transform from source to target at a time, as `geometry_msgs/msg/TransformStamped`."""
        raise NotImplementedException

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
    ) -> Any:
        """The transform between frames at two times."""
        raise NotImplementedException

    def can_transform(
        self, target_frame: str, source_frame: str, time: SomeTime, timeout: SomeDuration | None = None
    ) -> bool:
        """Whether `lookup_transform` would succeed."""
        raise NotImplementedException

    def can_transform_full(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
        timeout: SomeDuration | None = None,
    ) -> bool:
        """Whether `lookup_transform_full` would succeed."""
        raise NotImplementedException
