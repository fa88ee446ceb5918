"""Names that the modules of rclpy pass on from each other, and that programs import from there.

`from rclpy.node import CallbackGroup` works in ROS 2 because `rclpy.node` happens to import the class. The
table below
was made by comparing with rclpy 7.1 (`tests/test_public_names.py`); a name is looked up when it is first
asked for.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

# By module: "home: names".
_PLACES: dict[str, tuple[str, ...]] = {
    "rclpy.action.client": (
        "rclpy.executors: await_or_execute",
        "rclpy.type_support: check_for_type_support",
        "rclpy.waitable: Waitable",
    ),
    "rclpy.action.graph": ("rclpy.node: Node",),
    "rclpy.action.server": (
        "rclpy.executors: await_or_execute",
        "rclpy.impl.errors: RCLError",
        "rclpy.type_support: check_for_type_support",
        "rclpy.waitable: Waitable",
    ),
    "rclpy.client": (
        "rclpy.clock: Clock",
        "rclpy.executors: Context",
        "rclpy.type_names: SrvType SrvTypeRequest SrvTypeResponse",
    ),
    "rclpy.clock": (
        "rclpy.executors: Context get_default_context",
        "rclpy.type_names: ClockHandle DestroyableType TimeHandle TimeJumpDictionary",
    ),
    "rclpy.context": ("rclpy.type_names: ContextHandle DestroyableType",),
    "rclpy.duration": ("rclpy.type_names: DurationType",),
    "rclpy.event_handler": (
        "rclpy.node: get_logger",
        "rclpy.qos: qos_policy_name_from_kind",
        "rclpy.type_names: IncompatibleTypeInfo",
    ),
    "rclpy.executors": (
        "rclpy.client: Client",
        "rclpy.clock: Clock",
        "rclpy.exceptions: InvalidHandle",
        "rclpy.guard_condition: GuardCondition SignalHandlerGuardCondition",
        "rclpy.service: Service",
        "rclpy.subscription: Subscription",
        "rclpy.task: Task",
        "rclpy.timer: Timer",
        "rclpy.type_names: ClockType WaitableEntityType",
        "rclpy.utilities: timeout_sec_to_nsec",
        "rclpy.waitable: NumberOfEntities Waitable",
    ),
    "rclpy.guard_condition": ("rclpy.executors: get_default_context",),
    "rclpy.impl.rcutils_logger": (
        "rclpy.clock: Clock",
        "rclpy.logging: LoggingSeverity",
    ),
    "rclpy.lifecycle.node": (
        "rclpy.qos: QoSProfile",
        "rclpy.type_support: check_is_valid_srv_type",
    ),
    "rclpy.lifecycle.publisher": ("rclpy.type_names: MsgType",),
    "rclpy.logging_service": (
        "rclpy.logging: LoggingSeverity",
        "rclpy.qos: qos_profile_services_default",
        "rclpy.validate_topic_name: TOPIC_SEPARATOR_STRING",
    ),
    "rclpy.node": (
        "rcl_interfaces.msg: FloatingPointRange IntegerRange ListParametersResult SetParametersResult",
        "rcl_interfaces.srv: ListParameters",
        "rclpy.callback_groups: CallbackGroup MutuallyExclusiveCallbackGroup ReentrantCallbackGroup",
        "rclpy.client: Client",
        "rclpy.event_handler: PublisherEventCallbacks SubscriptionEventCallbacks",
        "rclpy.exceptions: InvalidHandle InvalidParameterTypeException InvalidParameterValueException "
        "InvalidTopicNameException ParameterAlreadyDeclaredException ParameterImmutableException "
        "ParameterNotDeclaredException ParameterUninitializedException",
        "rclpy.executors: Executor",
        "rclpy.guard_condition: GuardCondition",
        "rclpy.parameter: PARAMETER_SEPARATOR_STRING ParameterMsg ParameterType ParameterValue",
        "rclpy.publisher: Publisher",
        "rclpy.qos: QoSProfile qos_profile_services_default",
        "rclpy.qos_overriding_options: ParameterDescriptor QoSOverridingOptions",
        "rclpy.service: Service",
        "rclpy.subscription: Subscription",
        "rclpy.time: S_TO_NS",
        "rclpy.timer: Rate Timer",
        "rclpy.topic_endpoint_info: TopicEndpointInfo",
        "rclpy.type_names: MsgType SrvType SrvTypeRequest SrvTypeResponse",
        "rclpy.type_support: check_is_valid_msg_type check_is_valid_srv_type",
        "rclpy.validate_full_topic_name: validate_full_topic_name",
        "rclpy.validate_parameter_name: validate_parameter_name",
        "rclpy.validate_topic_name: validate_topic_name",
        "rclpy.waitable: Waitable",
    ),
    "rclpy.parameter_client": (
        "rclpy.event_handler: SubscriptionEventCallbacks",
        "rclpy.node: Node",
        "rclpy.parameter: ParameterMsg",
        "rclpy.qos_overriding_options: QoSOverridingOptions",
    ),
    "rclpy.parameter_event_handler": (
        "rclpy.callback_groups: CallbackGroup",
        "rclpy.event_handler: SubscriptionEventCallbacks",
        "rclpy.node: Node Parameter",
        "rclpy.qos_overriding_options: QoSOverridingOptions",
    ),
    "rclpy.parameter_service": (
        "rcl_interfaces.msg: ListParametersResult",
        "rclpy.validate_topic_name: TOPIC_SEPARATOR_STRING",
    ),
    "rclpy.publisher": (
        "rclpy.callback_groups: CallbackGroup",
        "rclpy.event_handler: EventHandler PublisherEventCallbacks",
        "rclpy.qos: Duration",
        "rclpy.type_names: MsgType",
    ),
    "rclpy.qos_event": (
        "rclpy.callback_groups: CallbackGroup",
        "rclpy.node: get_logger",
        "rclpy.qos: qos_policy_name_from_kind",
        "rclpy.type_names: IncompatibleTypeInfo",
        "rclpy.waitable: NumberOfEntities Waitable",
    ),
    "rclpy.qos_overriding_options": (
        "rcl_interfaces.msg: SetParametersResult",
        "rclpy.exceptions: ParameterAlreadyDeclaredException",
        "rclpy.qos: QoSDurabilityPolicy QoSHistoryPolicy QoSLivelinessPolicy QoSReliabilityPolicy",
        "rclpy.subscription: Subscription",
    ),
    "rclpy.serialization": ("rclpy.type_support: check_for_type_support",),
    "rclpy.service": (
        "rclpy.clock: Clock",
        "rclpy.type_names: SrvType SrvTypeRequest SrvTypeResponse",
    ),
    "rclpy.signals": (
        "rclpy.exceptions: InvalidHandle",
        "rclpy.guard_condition: GuardCondition SignalHandlerGuardCondition",
    ),
    "rclpy.subscription": (
        "rclpy.event_handler: EventHandler SubscriptionEventCallbacks",
        "rclpy.type_names: MsgType",
    ),
    "rclpy.time": ("rclpy.type_names: TimeHandle",),
    "rclpy.timer": (
        "rclpy.exceptions: InvalidHandle",
        "rclpy.executors: Context get_default_context",
    ),
    "rclpy.topic_endpoint_info": ("rclpy.qos: QoSHistoryPolicy QoSPresetProfiles",),
    "rclpy.type_description_service": (
        "rclpy.parameter: ParameterType",
        "rclpy.qos: qos_profile_services_default",
        "rclpy.service: Service",
        "rclpy.type_support: check_is_valid_srv_type",
        "rclpy.validate_topic_name: TOPIC_SEPARATOR_STRING",
    ),
    "rclpy.utilities": ("rclpy.time: S_TO_NS",),
    "rclpy.validate_full_topic_name": (
        "rclpy.exceptions: InvalidServiceNameException InvalidTopicNameException",
    ),
    "rclpy.validate_namespace": ("rclpy.exceptions: InvalidNamespaceException",),
    "rclpy.validate_node_name": ("rclpy.exceptions: InvalidNodeNameException",),
    "rclpy.validate_topic_name": ("rclpy.exceptions: InvalidServiceNameException InvalidTopicNameException",),
    "rclpy.wait_for_message": (
        "rclpy.guard_condition: SignalHandlerGuardCondition",
        "rclpy.node: Node",
        "rclpy.utilities: timeout_sec_to_nsec",
    ),
}


def pass_on(module: str) -> None:
    """Have a module give the names of the table too; called at its end with its `__name__`."""
    homes = {
        name: home
        for place in _PLACES[module]
        for home, names in [place.split(": ")]
        for name in names.split()
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, found)
        return found

    vars(sys.modules[module])["__getattr__"] = find
