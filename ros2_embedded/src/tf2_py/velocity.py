"""How fast a frame moves, from its transforms at the two ends of an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rclpy.time import Time
from tf2_py.exceptions import InvalidArgumentException
from tf2_py.rigid import Quaternion, Rigid, Vector, compose, invert, rotate
from tf2_py.times import SomeDuration, SomeTime, as_nanoseconds

if TYPE_CHECKING:
    from tf2_py.buffer_core import BufferCore

Twist = tuple[Vector, Vector]
"""Linear [m/s] and angular velocity [rad/s]."""
_EARLIEST_NS = 10_000
"""Zero stands for the newest time, so an interval begins no earlier than this."""


def velocity(
    buffer: BufferCore,
    tracking_frame: str,
    observation_frame: str,
    reference_frame: str,
    reference_point: Vector,
    reference_point_frame: str,
    time: SomeTime,
    averaging_interval: SomeDuration,
) -> Twist:
    """The mean velocity of a frame over an interval, as differences of its transforms.

    Args:
        buffer: holds the transforms.
        tracking_frame: the frame that moves.
        observation_frame: the frame in which its motion is seen.
        reference_frame: the frame whose axes the result has.
        reference_point: the point [m] of the moving body whose velocity is asked for.
        reference_point_frame: the frame that gives this point.
        time: the middle of the interval; zero takes the newest common time. An interval that would end
            later ends there.
        averaging_interval: the length of the interval.

    Raises:
        TransformException: as `BufferCore.lookup_transform_core`.
        InvalidArgumentException: the transforms are known for one time only.
    """
    latest = int(buffer.get_latest_common_time(observation_frame, tracking_frame).nanoseconds)
    middle, span = as_nanoseconds(time) or latest, as_nanoseconds(averaging_interval)
    end = min(middle + span // 2, latest)
    start = max(_EARLIEST_NS + span, end) - span
    if end <= start:
        raise InvalidArgumentException(f"no interval of {span} ns ends at {end} ns")
    first = _look_up(buffer, observation_frame, tracking_frame, start)
    last = _look_up(buffer, observation_frame, tracking_frame, end)
    seconds = (end - start) / 1e9
    shift = _minus(last.translation, first.translation)
    turn = rotate(first.rotation, _rotation_vector(compose(invert(first), last).rotation))
    axes = _look_up(buffer, reference_frame, observation_frame, middle).rotation
    linear = rotate(axes, _scaled(shift, 1 / seconds))
    angular = rotate(axes, _scaled(turn, 1 / seconds))
    origin = _look_up(buffer, reference_frame, tracking_frame, middle).translation
    to_reference = _look_up(buffer, reference_frame, reference_point_frame, middle)
    point = compose(to_reference, Rigid(reference_point)).translation
    return _plus(linear, _cross(angular, _minus(point, origin))), angular


def _look_up(buffer: BufferCore, target: str, source: str, stamp: int) -> Rigid:
    message: Any = buffer.lookup_transform_core(target, source, Time(nanoseconds=stamp))
    t, q = message.transform.translation, message.transform.rotation
    return Rigid((t.x, t.y, t.z), (q.x, q.y, q.z, q.w))


def _rotation_vector(q: Quaternion) -> Vector:
    """Axis times angle [rad] of the shorter way round."""
    x, y, z, w = q if q[3] >= 0 else (-q[0], -q[1], -q[2], -q[3])
    sine = math.sqrt(x * x + y * y + z * z)
    return _scaled((x, y, z), 2 * math.atan2(sine, w) / sine) if sine else (0.0, 0.0, 0.0)


def _scaled(v: Vector, factor: float) -> Vector:
    return (v[0] * factor, v[1] * factor, v[2] * factor)


def _plus(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def _minus(a: Vector, b: Vector) -> Vector:
    return _plus(a, _scaled(b, -1.0))


def _cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
