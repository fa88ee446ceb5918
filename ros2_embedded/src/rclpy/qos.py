"""Quality of service profiles."""

from __future__ import annotations

import warnings
from enum import Enum, IntEnum
from typing import Any

from rclpy.duration import Duration, Infinite
from rclpy.impl.rmw_qos_profile import rmw_qos_profile_t
from ros2_embedded.wire.qos_text import DEFAULT_DEPTH, INFINITE_NS, WireQoS

MOST_DEPTH = 2**63 - 1
"""Largest depth that endpoints announce."""


class QoSPolicyKind(IntEnum):
    """The policies, as bit mask values of rmw."""

    INVALID = 1
    DURABILITY = 2
    DEADLINE = 4
    LIVELINESS = 8
    RELIABILITY = 16
    HISTORY = 32
    LIFESPAN = 64
    DEPTH = 128
    LIVELINESS_LEASE_DURATION = 256
    AVOID_ROS_NAMESPACE_CONVENTIONS = 512


def qos_policy_name_from_kind(policy_kind: QoSPolicyKind | int) -> str:
    """The name of a policy.

    Raises:
        ValueError: no such policy.
    """
    return QoSPolicyKind(policy_kind).name


class InvalidQoSProfileException(Exception):
    """A profile that contradicts itself."""

    def __init__(self, *args: object) -> None:
        """Put the usual text in front."""
        super().__init__("Invalid QoSProfile", *args)


class QoSPolicyEnum(IntEnum):
    """Base of the policies: names that the command line uses."""

    @classmethod
    def short_keys(cls) -> list[str]:
        """The lower-case names."""
        return [policy.name.lower() for policy in cls]

    @classmethod
    def get_from_short_key(cls, name: str) -> int:
        """The number of a short name, in any case.

        Raises:
            KeyError: no such policy.
        """
        return int(cls[name.upper()])

    @property
    def short_key(self) -> str:
        """The lower-case name."""
        return self.name.lower()


class HistoryPolicy(QoSPolicyEnum):
    """Keep the last `depth` messages, or all."""

    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3

    # The names of the C constants, which older programs use.
    RMW_QOS_POLICY_HISTORY_SYSTEM_DEFAULT = SYSTEM_DEFAULT
    RMW_QOS_POLICY_HISTORY_KEEP_LAST = KEEP_LAST
    RMW_QOS_POLICY_HISTORY_KEEP_ALL = KEEP_ALL
    RMW_QOS_POLICY_HISTORY_UNKNOWN = UNKNOWN


class ReliabilityPolicy(QoSPolicyEnum):
    """Deliver every message, or as well as it goes."""

    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4

    # The names of the C constants, which older programs use.
    RMW_QOS_POLICY_RELIABILITY_SYSTEM_DEFAULT = SYSTEM_DEFAULT
    RMW_QOS_POLICY_RELIABILITY_RELIABLE = RELIABLE
    RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT = BEST_EFFORT
    RMW_QOS_POLICY_RELIABILITY_UNKNOWN = UNKNOWN


class DurabilityPolicy(QoSPolicyEnum):
    """Keep messages for subscriptions that come late, or not."""

    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4

    # The names of the C constants, which older programs use.
    RMW_QOS_POLICY_DURABILITY_SYSTEM_DEFAULT = SYSTEM_DEFAULT
    RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL = TRANSIENT_LOCAL
    RMW_QOS_POLICY_DURABILITY_VOLATILE = VOLATILE
    RMW_QOS_POLICY_DURABILITY_UNKNOWN = UNKNOWN


class LivelinessPolicy(QoSPolicyEnum):
    """Who says that a publisher is alive."""

    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3
    UNKNOWN = 4
    BEST_AVAILABLE = 5

    # The names of the C constants, which older programs use.
    RMW_QOS_POLICY_LIVELINESS_SYSTEM_DEFAULT = SYSTEM_DEFAULT
    RMW_QOS_POLICY_LIVELINESS_AUTOMATIC = AUTOMATIC
    RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC = MANUAL_BY_TOPIC
    RMW_QOS_POLICY_LIVELINESS_UNKNOWN = UNKNOWN


QoSHistoryPolicy = HistoryPolicy
QoSReliabilityPolicy = ReliabilityPolicy
QoSDurabilityPolicy = DurabilityPolicy
QoSLivelinessPolicy = LivelinessPolicy


class QoSProfile:
    """A QoS profile; give at least `history` or `depth`. All arguments are keywords."""

    __slots__ = (
        "_avoid_ros_namespace_conventions",
        "_deadline",
        "_depth",
        "_durability",
        "_history",
        "_lifespan",
        "_liveliness",
        "_liveliness_lease_duration",
        "_reliability",
    )

    def __init__(self, **kwargs: Any) -> None:
        """Set the policies.

        Raises:
            InvalidQoSProfileException: neither history nor depth, or keep last without a depth.
        """
        unknown = [key for key in kwargs if f"_{key}" not in self.__slots__]
        if unknown:
            raise AssertionError(f"Invalid arguments passed to constructor: {unknown}")
        if "history" not in kwargs:
            if "depth" not in kwargs:
                raise InvalidQoSProfileException("History and/or depth settings are required.")
            kwargs["history"] = HistoryPolicy.KEEP_LAST
        self.history = kwargs["history"]
        if self.history == HistoryPolicy.KEEP_LAST and "depth" not in kwargs:
            raise InvalidQoSProfileException("History set to KEEP_LAST without a depth setting.")
        self._set_depth(kwargs.get("depth", 0))
        self.reliability = kwargs.get("reliability", ReliabilityPolicy.RELIABLE)
        self.durability = kwargs.get("durability", DurabilityPolicy.VOLATILE)
        self.lifespan = kwargs.get("lifespan", Duration())
        self.deadline = kwargs.get("deadline", Duration())
        self.liveliness = kwargs.get("liveliness", LivelinessPolicy.SYSTEM_DEFAULT)
        self.liveliness_lease_duration = kwargs.get("liveliness_lease_duration", Duration())
        self.avoid_ros_namespace_conventions = kwargs.get("avoid_ros_namespace_conventions", False)

    @property
    def history(self) -> HistoryPolicy:
        """History policy."""
        return self._history

    @history.setter
    def history(self, value: int) -> None:
        self._history = HistoryPolicy(value)

    @property
    def reliability(self) -> ReliabilityPolicy:
        """Reliability policy."""
        return self._reliability

    @reliability.setter
    def reliability(self, value: int) -> None:
        self._reliability = ReliabilityPolicy(value)

    @property
    def durability(self) -> DurabilityPolicy:
        """Durability policy."""
        return self._durability

    @durability.setter
    def durability(self, value: int) -> None:
        self._durability = DurabilityPolicy(value)

    @property
    def liveliness(self) -> LivelinessPolicy:
        """Liveliness policy."""
        return self._liveliness

    @liveliness.setter
    def liveliness(self, value: int) -> None:
        self._liveliness = LivelinessPolicy(value)

    @property
    def depth(self) -> int:
        """Queue length."""
        return self._depth

    @depth.setter
    def depth(self, value: int) -> None:
        self._set_depth(value)

    def _set_depth(self, value: int) -> None:
        """Check a depth and keep it; called from a setter and from the constructor."""
        if not isinstance(value, int):
            raise AssertionError("depth must be an integer")
        if value < 0:
            raise ValueError("depth must be greater than or equal to zero")
        if value > MOST_DEPTH:
            raise ValueError(f"depth must be at most {MOST_DEPTH}, not {value}")
        if value == 0 and self.history == HistoryPolicy.KEEP_LAST:
            warnings.warn(
                "A zero depth with KEEP_LAST doesn't make sense; no data could be stored. "
                "This will be interpreted as SYSTEM_DEFAULT",
                stacklevel=3,
            )
        self._depth = value

    @property
    def lifespan(self) -> Duration:
        """How long a message stays valid; zero: for ever."""
        return self._lifespan

    @lifespan.setter
    def lifespan(self, value: Duration) -> None:
        self._lifespan = _duration(value)

    @property
    def deadline(self) -> Duration:
        """Longest time between messages; zero: none."""
        return self._deadline

    @deadline.setter
    def deadline(self, value: Duration) -> None:
        self._deadline = _duration(value)

    @property
    def liveliness_lease_duration(self) -> Duration:
        """Time after which a silent publisher counts as dead; zero: never."""
        return self._liveliness_lease_duration

    @liveliness_lease_duration.setter
    def liveliness_lease_duration(self, value: Duration) -> None:
        self._liveliness_lease_duration = _duration(value)

    @property
    def avoid_ros_namespace_conventions(self) -> bool:
        """Kept for compatibility; names on this wire have no prefixes."""
        return self._avoid_ros_namespace_conventions

    @avoid_ros_namespace_conventions.setter
    def avoid_ros_namespace_conventions(self, value: bool) -> None:
        self._avoid_ros_namespace_conventions = bool(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QoSProfile):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n[1:]}={getattr(self, n)}' for n in self.__slots__)})"

    def get_c_qos_profile(self) -> rmw_qos_profile_t:
        """A snapshot of the policies; its `to_dict` gives them by name."""
        return rmw_qos_profile_t(self)

    def to_wire(self) -> WireQoS:
        """The profile with system defaults filled in, as it is announced."""
        best_effort = self._reliability == ReliabilityPolicy.BEST_EFFORT
        transient = self._durability == DurabilityPolicy.TRANSIENT_LOCAL
        keep_all = self._history == HistoryPolicy.KEEP_ALL
        return WireQoS(
            reliability=2 if best_effort else 1,
            durability=1 if transient else 2,
            history=2 if keep_all else 1,
            depth=self._depth or DEFAULT_DEPTH,
            deadline=self._deadline.nanoseconds or INFINITE_NS,
            lifespan=self._lifespan.nanoseconds or INFINITE_NS,
            liveliness=3 if self._liveliness == LivelinessPolicy.MANUAL_BY_TOPIC else 1,
            lease=self._liveliness_lease_duration.nanoseconds or INFINITE_NS,
        )

    @classmethod
    def from_wire(cls, wire: WireQoS) -> QoSProfile:
        """The profile of an announced endpoint; policies this code does not know become UNKNOWN."""
        return cls(
            history=HistoryPolicy(wire.history) if wire.history in (0, 1, 2) else HistoryPolicy.UNKNOWN,
            depth=wire.depth,
            reliability=wire.reliability if wire.reliability in (0, 1, 2) else ReliabilityPolicy.UNKNOWN,
            durability=wire.durability if wire.durability in (0, 1, 2) else DurabilityPolicy.UNKNOWN,
            lifespan=Duration(nanoseconds=wire.lifespan),
            deadline=Duration(nanoseconds=wire.deadline),
            liveliness=wire.liveliness if wire.liveliness in (0, 1, 3) else LivelinessPolicy.UNKNOWN,
            liveliness_lease_duration=Duration(nanoseconds=wire.lease),
        )


def _duration(value: Any) -> Duration:
    if not isinstance(value, Duration):
        raise AssertionError("a QoS duration must be an rclpy.duration.Duration")
    if value.nanoseconds < 0:  # no peer would understand the endpoint
        raise ValueError(f"a QoS duration must not be negative, as {value} is")
    return Infinite if value.nanoseconds >= INFINITE_NS else value


def as_profile(qos: QoSProfile | int) -> QoSProfile:
    """A profile as given, or the default one with that depth.

    Raises:
        TypeError: neither a profile nor an integer.
        ValueError: a negative depth.
    """
    if isinstance(qos, QoSProfile):
        return qos
    if isinstance(qos, bool) or not isinstance(qos, int):
        raise TypeError(f"Expected QoSProfile or int, but received {type(qos)!r}")
    if qos < 0:
        raise ValueError("depth must be greater than or equal to zero")
    return QoSProfile(depth=qos)


# "As good as what is there": rmw's numbers for the two durations.
DeadlineBestAvailable = Duration(nanoseconds=INFINITE_NS - 1)
LivelinessLeaseDurationeBestAvailable = Duration(nanoseconds=INFINITE_NS - 1)

qos_profile_unknown = QoSProfile(history=HistoryPolicy.UNKNOWN, depth=0)
qos_profile_default = QoSProfile(depth=10)
qos_profile_system_default = QoSProfile(
    history=HistoryPolicy.SYSTEM_DEFAULT,
    depth=0,
    reliability=ReliabilityPolicy.SYSTEM_DEFAULT,
    durability=DurabilityPolicy.SYSTEM_DEFAULT,
)
qos_profile_sensor_data = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
qos_profile_services_default = QoSProfile(depth=10)
qos_profile_parameters = QoSProfile(depth=1000)
qos_profile_parameter_events = QoSProfile(depth=1000)
qos_profile_rosout_default = QoSProfile(
    depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL, lifespan=Duration(seconds=10)
)
qos_profile_best_available = QoSProfile(
    depth=10,
    reliability=ReliabilityPolicy.BEST_AVAILABLE,
    durability=DurabilityPolicy.BEST_AVAILABLE,
    liveliness=LivelinessPolicy.BEST_AVAILABLE,
)
qos_profile_action_status_default = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class QoSPresetProfiles(Enum):
    """The presets; `.value` is the profile."""

    UNKNOWN = qos_profile_unknown
    DEFAULT = qos_profile_default
    SYSTEM_DEFAULT = qos_profile_system_default
    SENSOR_DATA = qos_profile_sensor_data
    SERVICES_DEFAULT = qos_profile_services_default
    PARAMETERS = qos_profile_parameters
    PARAMETER_EVENTS = qos_profile_parameter_events
    ACTION_STATUS_DEFAULT = qos_profile_action_status_default
    BEST_AVAILABLE = qos_profile_best_available

    @classmethod
    def short_keys(cls) -> list[str]:
        """The lower-case names."""
        return [key.lower() for key in cls.__members__]

    @classmethod
    def get_from_short_key(cls, name: str) -> QoSProfile:
        """The profile of a short name.

        Raises:
            KeyError: no such preset.
        """
        profile: QoSProfile = cls[name.upper()].value
        return profile


class QoSCompatibility(IntEnum):
    """Whether two profiles can talk."""

    OK = 0
    WARNING = 1
    ERROR = 2


def qos_check_compatible(
    publisher_qos: QoSProfile, subscription_qos: QoSProfile
) -> tuple[QoSCompatibility, str]:
    """Over Zenoh any publisher reaches any subscription, so this is always OK."""
    return QoSCompatibility.OK, ""
