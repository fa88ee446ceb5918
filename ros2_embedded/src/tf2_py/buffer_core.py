"""A tree of frames and the transforms between them over the last seconds."""

from __future__ import annotations

import logging
import math
import re
import threading
from collections.abc import Callable
from typing import Any

import yaml
from geometry_msgs.msg import TransformStamped

from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.time import Time
from tf2_py.cache import Sample, StaticCache, TimeCache
from tf2_py.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)
from tf2_py.rigid import IDENTITY, Rigid, Vector, compose, invert, normalise
from tf2_py.times import AnyClockTime, SomeDuration, SomeTime, as_nanoseconds
from tf2_py.velocity import Twist, velocity

DEFAULT_CACHE_TIME_S = 10.0
# How far the length of a quaternion may be from one.
_LENGTH_TOLERANCE = 1e-2
# Text that YAML takes as it is, but for words such as `on`.
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_logger = logging.getLogger("tf2")
Chain = list[tuple[str, Rigid]]  # frames on the way up, each with the transform from the start to it


class BufferCore:
    """Holds transforms; thread-safe. Frame names have no leading slash.

    A transform is given only for a time that its data covers: anything else raises.
    """

    def __init__(self, cache_time: Duration | None = None) -> None:
        """Start empty; `cache_time` is how far back transforms are kept (None: 10 s)."""
        span = Duration(seconds=DEFAULT_CACHE_TIME_S) if cache_time is None else cache_time
        self._span = as_nanoseconds(span)
        self._frames: dict[str, TimeCache] = {}
        self._parents: set[str] = set()
        self._changed = threading.Condition(threading.RLock())
        self._listeners: list[Callable[[], None]] = []

    def set_transform(self, transform: Any, authority: str = "default_authority") -> None:
        """Add a `geometry_msgs/msg/TransformStamped`; one older than the cache or known already is left out.

        Args:
            transform: from `child_frame_id` to `header.frame_id`.
            authority: who says so, for messages about it.

        Raises:
            InvalidArgumentException: an empty or repeated frame, not a number, not a unit quaternion, a
                negative time.
        """
        self._insert(transform, authority, is_static=False)

    def set_transform_static(self, transform: Any, authority: str = "default_authority") -> None:
        """As `set_transform`, for a transform that holds at all times."""
        self._insert(transform, authority, is_static=True)

    def _insert(self, transform: Any, authority: str, is_static: bool) -> None:
        child, parent = transform.child_frame_id.lstrip("/"), transform.header.frame_id.lstrip("/")
        if not child or not parent:
            raise InvalidArgumentException(f"transform from {child!r} to {parent!r}: a frame has no name")
        if child == parent:
            raise InvalidArgumentException(f"frame {child!r} cannot be its own parent")
        rigid = _to_rigid(transform)
        stamp = as_nanoseconds(transform.header.stamp)
        if stamp < 0:
            raise InvalidArgumentException(f"transform of {child!r} is of a time before the clock's zero")
        with self._changed:
            cache = self._frames.get(child)
            if cache is None or cache.is_static != is_static:
                cache = self._frames[child] = StaticCache(self._span) if is_static else TimeCache(self._span)
            reason = cache.insert(Sample(stamp, parent, rigid, authority))
            self._parents.add(parent)
            self._changed.notify_all()
            listeners = list(self._listeners)
        if reason:
            _logger.debug("ignored transform %s -> %s of %s: %s", child, parent, authority, reason)
        for listener in listeners:
            listener()

    def clear(self) -> None:
        """Forget all transforms that are not static."""
        with self._changed:
            self._frames = {name: cache for name, cache in self._frames.items() if cache.is_static}

    def _check_frame(self, frame: str, argument: str) -> str:
        """The frame's name if it is known."""
        if not frame:
            raise InvalidArgumentException(f"Invalid argument {argument}: a frame cannot be empty")
        if frame.startswith("/"):
            raise InvalidArgumentException(
                f'Invalid argument "{frame}" passed to {argument}: a frame cannot start with a "/"'
            )
        if frame not in self._frames and frame not in self._parents:
            raise LookupException(f'"{frame}" passed to lookupTransform argument {argument} does not exist. ')
        return frame

    def _climb(self, frame: str, stamp: int | None) -> tuple[Chain, ExtrapolationException | None]:
        """From a frame to the top of its tree, or as far as there is data for the time (None: the newest).

        Raises:
            LookupException: the frames form a loop.
        """
        chain: Chain = [(frame, IDENTITY)]
        seen = {frame}
        while True:
            cache = self._frames.get(frame)
            try:
                sample = None if cache is None else cache.newest() if stamp is None else cache.at(stamp)
            except ExtrapolationException as error:
                return chain, error
            if sample is None:
                return chain, None
            frame = sample.parent
            if frame in seen:
                raise LookupException(f"the frames form a loop: {frame!r} is an ancestor of itself")
            seen.add(frame)
            chain.append((frame, compose(sample.transform, chain[-1][1])))

    def _join(self, target: str, source: str, stamp: int | None) -> Rigid:
        """The transform from source to target at a time.

        Raises:
            ConnectivityException, ExtrapolationException, LookupException: see there.
        """
        up, up_error = self._climb(source, stamp)
        down, down_error = self._climb(target, stamp)
        reached = dict(up)
        for frame, from_target in down:
            if frame in reached:
                return compose(invert(from_target), reached[frame])
        where = f", when looking up transform from frame [{source}] to frame [{target}]"
        error = up_error or down_error
        if error is not None:
            raise ExtrapolationException(f"{error}{where}")
        raise ConnectivityException(
            f"Could not find a connection between '{target}' and '{source}' because they are not part of "
            "the same tree. Tf has two or more unconnected trees."
        )

    def _latest_common(self, target: str, source: str) -> int:
        """The newest time [ns] for which all moving frames between the two have data; 0 if none moves."""
        self._join(target, source, None)
        up = [frame for frame, _ in self._climb(source, None)[0]]
        down = [frame for frame, _ in self._climb(target, None)[0]]
        common = next(frame for frame in down if frame in up)
        between = up[: up.index(common)] + down[: down.index(common)]
        newest = [
            cache.newest() for cache in (self._frames[frame] for frame in between) if not cache.is_static
        ]
        return min((sample.stamp for sample in newest if sample is not None), default=0)

    def get_latest_common_time(self, target_frame: str, source_frame: str) -> Time:
        """The newest time for which the transform is known, zero if it never changes; compares with any
        clock's.

        Raises:
            TransformException: as `lookup_transform_core`.
        """
        with self._changed:
            self._check_frame(target_frame, "target_frame")
            self._check_frame(source_frame, "source_frame")
            stamp = self._latest_common(target_frame, source_frame)
        return AnyClockTime(nanoseconds=stamp, clock_type=ClockType.ROS_TIME)

    def lookup_transform_core(self, target_frame: str, source_frame: str, time: SomeTime) -> Any:
        """The transform that takes coordinates from the source to the target frame.

        Args:
            target_frame: frame of the result.
            source_frame: frame of the data.
            time: when; zero takes the newest time for which it is known.

        Returns:
            `geometry_msgs/msg/TransformStamped`, frame_id the target and child_frame_id the source.

        Raises:
            LookupException, ConnectivityException, ExtrapolationException, InvalidArgumentException: see
                there.
        """
        asked = as_nanoseconds(time)
        with self._changed:
            self._check_frame(target_frame, "target_frame")
            self._check_frame(source_frame, "source_frame")
            stamp = asked or self._latest_common(target_frame, source_frame)
            rigid = self._join(target_frame, source_frame, stamp)
        if stamp < 0:  # which a stranger's message can hold, and which only static transforms have
            raise ExtrapolationException(f"the time {stamp / 1e9:.6f} is before the clock's zero")
        return _to_message(rigid, target_frame, source_frame, stamp)

    def lookup_transform_full_core(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
    ) -> Any:
        """As `lookup_transform_core` with two times, through a frame that did not move between them."""
        for time in (target_time, source_time):
            as_nanoseconds(time)  # raises for what is no time, also while a frame is unknown
        with self._changed:
            self._check_frame(fixed_frame, "fixed_frame")
            first = self.lookup_transform_core(fixed_frame, source_frame, source_time)
            second = self.lookup_transform_core(target_frame, fixed_frame, target_time)
        rigid = compose(_to_rigid(second), _to_rigid(first))
        stamp = as_nanoseconds(second.header.stamp)
        return _to_message(rigid, target_frame, source_frame, stamp)

    def can_transform_core(self, target_frame: str, source_frame: str, time: SomeTime) -> tuple[bool, str]:
        """Whether the lookup would succeed, and why not."""
        return _attempt(lambda: self.lookup_transform_core(target_frame, source_frame, time))

    def can_transform_full_core(
        self,
        target_frame: str,
        target_time: SomeTime,
        source_frame: str,
        source_time: SomeTime,
        fixed_frame: str,
    ) -> tuple[bool, str]:
        """Whether the lookup with two times would succeed, and why not."""
        return _attempt(
            lambda: self.lookup_transform_full_core(
                target_frame, target_time, source_frame, source_time, fixed_frame
            )
        )

    def lookupVelocityCore(
        self, tracking_frame: str, observation_frame: str, time: SomeTime, averaging_interval: SomeDuration
    ) -> Twist:
        """The velocity of a frame's origin as another sees it, with that one's axes; see `velocity`."""
        return self.lookupVelocityFullCore(
            tracking_frame,
            observation_frame,
            observation_frame,
            (0.0, 0.0, 0.0),
            tracking_frame,
            time,
            averaging_interval,
        )

    def lookupVelocityFullCore(
        self,
        tracking_frame: str,
        observation_frame: str,
        reference_frame: str,
        reference_point: Vector,
        reference_point_frame: str,
        time: SomeTime,
        averaging_interval: SomeDuration,
    ) -> Twist:
        """The velocity of a point of a moving frame, linear [m/s] and angular [rad/s]; see `velocity`."""
        with self._changed:
            return velocity(
                self,
                tracking_frame,
                observation_frame,
                reference_frame,
                reference_point,
                reference_point_frame,
                time,
                averaging_interval,
            )

    def _frameExists(self, frame_id: str) -> bool:
        """Whether a frame is known; programs ask under this name."""
        with self._changed:
            return frame_id in self._frames or frame_id in self._parents

    def _getFrameStrings(self) -> list[str]:
        """The names of all frames, sorted; programs ask under this name."""
        with self._changed:
            return sorted({*self._frames, *self._parents})

    def all_frames_as_yaml(self) -> str:
        """The frames with parent, authority, rate and times, as YAML; `[]` when there are none."""
        with self._changed:
            blocks = [_describe(name, cache) for name, cache in sorted(self._frames.items())]
        return "".join(blocks) or "[]"

    def all_frames_as_string(self) -> str:
        """One line a frame: its parent."""
        with self._changed:
            newest = [(name, cache.newest()) for name, cache in sorted(self._frames.items())]
        return "".join(
            f"Frame {name} exists with parent {sample.parent}.\n"
            for name, sample in newest
            if sample is not None
        )


def _attempt(lookup: Callable[[], Any]) -> tuple[bool, str]:
    try:
        lookup()
    except TransformException as error:
        return False, str(error)
    return True, ""


def _describe(name: str, cache: TimeCache) -> str:
    """One frame as YAML."""
    newest, oldest = cache.newest(), cache.oldest()
    if newest is None or oldest is None:
        return ""
    span = (newest.stamp - oldest.stamp) / 1e9
    rate = (len(cache) - 1) / span if span else 10000.0  # a frame that never changes is always up to date
    parent, authority = (
        f"'{text}'" if _PLAIN.fullmatch(text) else _in_quotes(text)
        for text in (newest.parent, newest.authority)
    )
    return (
        f"{_key(name)}: \n  parent: {parent}\n  broadcaster: {authority}\n  rate: {rate:.3f}\n"
        f"  most_recent_transform: {newest.stamp / 1e9:.6f}\n  oldest_transform: {oldest.stamp / 1e9:.6f}\n"
        f"  buffer_length: {span:.3f}\n"
    )


def _key(name: str) -> str:
    """The name of a frame as a key of YAML: in quotes where YAML would read something else, as for `1`."""
    plain = _PLAIN.fullmatch(name) and yaml.safe_load(name) == name
    return name if plain else _in_quotes(name)


def _in_quotes(text: str) -> str:
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf)).rstrip("\n")


def _to_rigid(message: Any) -> Rigid:
    """The transform of a message, checked."""
    t, q = message.transform.translation, message.transform.rotation
    numbers = (t.x, t.y, t.z, q.x, q.y, q.z, q.w)
    if not all(math.isfinite(number) for number in numbers):
        raise InvalidArgumentException(f"transform of {message.child_frame_id!r} holds a nan or an infinity")
    length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w
    if abs(length - 1.0) > _LENGTH_TOLERANCE:
        raise InvalidArgumentException(
            f"rotation of {message.child_frame_id!r} is no unit quaternion: ({q.x}, {q.y}, {q.z}, {q.w})"
        )
    return Rigid((float(t.x), float(t.y), float(t.z)), normalise((q.x, q.y, q.z, q.w)))


def _to_message(rigid: Rigid, target: str, source: str, stamp: int) -> Any:
    """A `TransformStamped`."""
    message = TransformStamped(child_frame_id=source)
    message.header.frame_id = target
    message.header.stamp = Time(nanoseconds=stamp).to_msg()
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = rigid.translation
    q.x, q.y, q.z, q.w = rigid.rotation
    return message
