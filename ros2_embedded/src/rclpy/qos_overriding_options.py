"""QoS policies of an entity that parameters may change from outside, at start."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import SetParametersResult as QosCallbackResult

from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.passed_on import pass_on
from rclpy.publisher import Publisher
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
)

if TYPE_CHECKING:
    from rclpy.node import Node

__all__ = ["InvalidQosOverridesError", "QoSOverridingOptions", "QoSPolicyKind", "QosCallbackResult"]

_ENUMS: dict[QoSPolicyKind, Any] = {
    QoSPolicyKind.HISTORY: HistoryPolicy,
    QoSPolicyKind.RELIABILITY: ReliabilityPolicy,
    QoSPolicyKind.DURABILITY: DurabilityPolicy,
    QoSPolicyKind.LIVELINESS: LivelinessPolicy,
}
_DURATIONS = (QoSPolicyKind.DEADLINE, QoSPolicyKind.LIFESPAN, QoSPolicyKind.LIVELINESS_LEASE_DURATION)


class InvalidQosOverridesError(Exception):
    """The profile after overriding is refused by the options' callback, or a value is no such policy."""


class QoSOverridingOptions:
    """Which policies may be overridden, by parameters `qos_overrides.<topic>.<entity>[_<id>].<policy>`."""

    def __init__(
        self,
        policy_kinds: Iterable[QoSPolicyKind],
        *,
        callback: Callable[[QoSProfile], Any] | None = None,
        entity_id: str | None = None,
    ) -> None:
        """Choose.

        Args:
            policy_kinds: the policies.
            callback: answers the profile that results with a `QosCallbackResult`.
            entity_id: tells entities of the same kind, topic and node apart.
        """
        self._policy_kinds, self._callback, self._entity_id = tuple(policy_kinds), callback, entity_id

    @property
    def policy_kinds(self) -> tuple[QoSPolicyKind, ...]:
        """The policies."""
        return self._policy_kinds

    @property
    def callback(self) -> Callable[[QoSProfile], Any] | None:
        """Answers a profile with a `QosCallbackResult`."""
        return self._callback

    @property
    def entity_id(self) -> str | None:
        """Tells entities apart."""
        return self._entity_id

    @classmethod
    def with_default_policies(
        cls, *, callback: Callable[[QoSProfile], Any] | None = None, entity_id: str | None = None
    ) -> QoSOverridingOptions:
        """History, depth and reliability may be overridden."""
        kinds = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY)
        return cls(kinds, callback=callback, entity_id=entity_id)


def _get_qos_policy_parameter(qos: QoSProfile, kind: QoSPolicyKind) -> Any:
    """A policy as a parameter value: durations in nanoseconds, choices by their short names."""
    value = getattr(qos, kind.name.lower())
    if kind in _ENUMS:
        return value.short_key
    return value.nanoseconds if kind in _DURATIONS else value


def _override(qos: QoSProfile, kind: QoSPolicyKind, parameter: Parameter) -> None:
    """Set a policy from a parameter."""
    value = parameter.value
    try:
        if kind in _ENUMS:
            value = _ENUMS[kind].get_from_short_key(value)
        elif kind in _DURATIONS:
            value = Duration(nanoseconds=value)
        setattr(qos, kind.name.lower(), value)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidQosOverridesError(
            f"parameter {parameter.name!r}: {parameter.value!r} is no {kind.name.lower()} policy"
        ) from error


def _declare_qos_parameters(
    entity_type: type, node: Node, topic_name: str, qos: QoSProfile, options: QoSOverridingOptions
) -> None:
    """Declare the read-only parameters of an entity and override its profile in place.

    Args:
        entity_type: `Publisher` or `Subscription`.
        node: gets the parameters; one that exists already is used as it is.
        topic_name: fully qualified and remapped.
        qos: changed in place.
        options: what may be overridden.

    Raises:
        InvalidQosOverridesError: see there.
    """
    entity = "publisher" if issubclass(entity_type, Publisher) else "subscription"
    suffix = f"_{options.entity_id}" if options.entity_id is not None else ""
    for kind in options.policy_kinds:
        policy = kind.name.lower()
        name = f"qos_overrides.{topic_name}.{entity}{suffix}.{policy}"
        if node.has_parameter(name):
            parameter = node.get_parameter(name)
        else:
            text = f"The {policy} policy of the {entity}{suffix} of {topic_name}."
            descriptor = ParameterDescriptor(description=text, read_only=True)
            parameter = node.declare_parameter(name, _get_qos_policy_parameter(qos, kind), descriptor)
        _override(qos, kind, parameter)
    if options.callback is None:
        return
    result = options.callback(qos)
    if not result.successful:
        raise InvalidQosOverridesError(f"{topic_name}: {result.reason or 'the callback refused the profile'}")


pass_on(__name__)
