"""Asks another node for its parameters, and sets them, through its parameter services."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)

from rclpy.callback_groups import CallbackGroup
from rclpy.client import Client
from rclpy.parameter import Parameter, parameter_dict_from_yaml_file
from rclpy.parameter_event_handler import EVENT_TOPIC
from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile, qos_profile_parameter_events, qos_profile_services_default
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.validate_names import validate_full_topic_name

if TYPE_CHECKING:
    from rclpy.event_handler import SubscriptionEventCallbacks
    from rclpy.node import Node
    from rclpy.qos_overriding_options import QoSOverridingOptions

DoneCallback = Callable[[Future[Any]], Any]


class AsyncParameterClient:
    """A client of the six parameter services of one node; each method returns a future response.

    Parameters are given as `rclpy.parameter.Parameter` or as `rcl_interfaces/msg/Parameter`.
    """

    def __init__(
        self,
        node: Node,
        remote_node_name: str,
        qos_profile: QoSProfile = qos_profile_services_default,
        callback_group: CallbackGroup | None = None,
    ) -> None:
        """Make the clients.

        Args:
            node: makes and spins the clients.
            remote_node_name: the node asked; a relative name is in the namespace of `node`.
            qos_profile: of the clients.
            callback_group: of the clients; None takes the node's default one.

        Raises:
            InvalidTopicNameException: not a node name.
        """
        full = node.resolve_topic_name(remote_node_name, only_expand=True)
        validate_full_topic_name(full)
        self.remote_node_name = remote_node_name
        self.node, self._full_name = node, full

        def client(kind: Any, name: str) -> Client:
            return node.create_client(
                kind, f"{full}/{name}", qos_profile=qos_profile, callback_group=callback_group
            )

        self._get = client(GetParameters, "get_parameters")
        self._list = client(ListParameters, "list_parameters")
        self._set = client(SetParameters, "set_parameters")
        self._types = client(GetParameterTypes, "get_parameter_types")
        self._describe = client(DescribeParameters, "describe_parameters")
        self._set_atomically = client(SetParametersAtomically, "set_parameters_atomically")
        self._clients = (
            self._get,
            self._list,
            self._set,
            self._types,
            self._describe,
            self._set_atomically,
        )

    def services_are_ready(self) -> bool:
        """True when all six services are in the graph."""
        return all(client.service_is_ready() for client in self._clients)

    def wait_for_services(self, timeout_sec: float | None = None) -> bool:
        """Block until all services are in the graph.

        Args:
            timeout_sec: [s], for all together; None waits for ever.

        Returns:
            Whether they are.
        """
        end = None if timeout_sec is None else time.monotonic() + timeout_sec
        for client in self._clients:
            left = None if end is None else max(end - time.monotonic(), 0.0)
            if not client.wait_for_service(left):
                return False
        return True

    def list_parameters(
        self,
        prefixes: Sequence[str] | None = None,
        depth: int | None = None,
        callback: DoneCallback | None = None,
    ) -> Future[Any]:
        """The names of the parameters.

        Args:
            prefixes: groups to list; None lists all.
            depth: how many levels below the prefixes; None or 0 for all.
            callback: called with the future when it is done, as in all methods here.

        Returns:
            Future `ListParameters` response.
        """
        request = ListParameters.Request(prefixes=list(prefixes or []), depth=depth or 0)
        return _call(self._list, request, callback)

    def get_parameters(self, names: list[str], callback: DoneCallback | None = None) -> Future[Any]:
        """The values of parameters: a future `GetParameters` response."""
        return _call(self._get, GetParameters.Request(names=names), callback)

    def set_parameters(self, parameters: Sequence[Any], callback: DoneCallback | None = None) -> Future[Any]:
        """Set parameters one after the other: a future `SetParameters` response."""
        request = SetParameters.Request(parameters=_messages(parameters))
        return _call(self._set, request, callback)

    def describe_parameters(self, names: list[str], callback: DoneCallback | None = None) -> Future[Any]:
        """The descriptors of parameters: a future `DescribeParameters` response."""
        return _call(self._describe, DescribeParameters.Request(names=names), callback)

    def get_parameter_types(self, names: list[str], callback: DoneCallback | None = None) -> Future[Any]:
        """The types of parameters, as numbers: a future `GetParameterTypes` response."""
        return _call(self._types, GetParameterTypes.Request(names=names), callback)

    def set_parameters_atomically(
        self, parameters: Sequence[Any], callback: DoneCallback | None = None
    ) -> Future[Any]:
        """Set all parameters or none: a future `SetParametersAtomically` response."""
        request = SetParametersAtomically.Request(parameters=_messages(parameters))
        return _call(self._set_atomically, request, callback)

    def delete_parameters(self, names: list[str], callback: DoneCallback | None = None) -> Future[Any]:
        """Delete parameters of dynamic type, by setting them to nothing: see `set_parameters`."""
        return self.set_parameters([Parameter(name) for name in names], callback)

    def load_parameter_file(
        self, parameter_file: str, use_wildcard: bool = False, callback: DoneCallback | None = None
    ) -> Future[Any]:
        """Set all parameters of a YAML file, of whatever node; those of `/**` only with `use_wildcard`."""
        return self.set_parameters(self._read(parameter_file, use_wildcard), callback)

    def load_parameter_file_atomically(
        self, parameter_file: str, use_wildcard: bool = False, callback: DoneCallback | None = None
    ) -> Future[Any]:
        """As `load_parameter_file`, all or nothing."""
        return self.set_parameters_atomically(self._read(parameter_file, use_wildcard), callback)

    def on_parameter_event(
        self,
        callback: Callable[[Any], Any],
        qos_profile: QoSProfile = qos_profile_parameter_events,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        raw: bool = False,
    ) -> Subscription[Any]:
        """Call a function with each `rcl_interfaces/msg/ParameterEvent` of the remote node; destroy the
        subscription to stop. The further arguments are those of `Node.create_subscription`; serialised
        events (`raw`) come from all nodes.
        """
        return self.node.create_subscription(
            ParameterEvent,
            EVENT_TOPIC,
            lambda event: callback(event) if raw or event.node == self._full_name else None,
            qos_profile,
            callback_group=callback_group,
            event_callbacks=event_callbacks,
            qos_overriding_options=qos_overriding_options,
            raw=raw,
        )

    def _read(self, parameter_file: str, use_wildcard: bool) -> list[Any]:
        return list(parameter_dict_from_yaml_file(parameter_file, use_wildcard).values())


def _call(client: Client, request: Any, callback: DoneCallback | None) -> Future[Any]:
    future = client.call_async(request)
    if callback is not None:
        future.add_done_callback(callback)
    return future


def _messages(parameters: Sequence[Any]) -> list[Any]:
    return [p.to_parameter_msg() if isinstance(p, Parameter) else p for p in parameters]


pass_on(__name__)
