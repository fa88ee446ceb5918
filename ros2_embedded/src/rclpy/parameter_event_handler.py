"""Callbacks for changes of parameters, of this node's and of other nodes'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import ParameterEvent

from rclpy.passed_on import pass_on
from rclpy.qos import QoSProfile, qos_profile_parameter_events

if TYPE_CHECKING:
    from rclpy.callback_groups import CallbackGroup
    from rclpy.event_handler import SubscriptionEventCallbacks
    from rclpy.node import Node
    from rclpy.qos_overriding_options import QoSOverridingOptions

EVENT_TOPIC = "/parameter_events"


@dataclass(eq=False)
class ParameterCallbackHandle:
    """A registered callback for one parameter; needed to remove it."""

    parameter_name: str
    node_name: str
    callback: Callable[[Any], None]


@dataclass(eq=False)
class ParameterEventCallbackHandle:
    """A registered callback for whole events; needed to remove it."""

    callback: Callable[[Any], None]


class _Callbacks:
    """The callbacks of a handler, the newest first; thread-safe."""

    def __init__(self) -> None:
        """Start empty."""
        self.parameter_callbacks: dict[tuple[str, str], list[ParameterCallbackHandle]] = {}
        self.event_callbacks: list[ParameterEventCallbackHandle] = []
        self.nodes: frozenset[str] | None = None
        self.lock = RLock()

    def event_callback(self, event: Any) -> None:
        """Hand an event to those who asked for it."""
        with self.lock:
            if self.nodes is not None and event.node not in self.nodes:
                return
            for (parameter_name, node_name), handles in list(self.parameter_callbacks.items()):
                parameter = ParameterEventHandler.get_parameter_from_event(event, parameter_name, node_name)
                if parameter is not None:
                    for handle in list(handles):
                        handle.callback(parameter)
            for whole in list(self.event_callbacks):
                whole.callback(event)


class ParameterEventHandler:
    """Listens to `/parameter_events`. Of several callbacks the one added last is called first."""

    def __init__(
        self,
        node: Node,
        qos_profile: QoSProfile = qos_profile_parameter_events,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: QoSOverridingOptions | None = None,
        raw: bool = False,
    ) -> None:
        """Subscribe with a node, which somebody must spin; the further arguments are those of
        `Node.create_subscription`.
        """
        self.node, self.qos_profile = node, qos_profile
        self._callbacks = _Callbacks()
        self.parameter_event_subscription = node.create_subscription(
            ParameterEvent,
            EVENT_TOPIC,
            self._callbacks.event_callback,
            qos_profile,
            callback_group=callback_group,
            event_callbacks=event_callbacks,
            qos_overriding_options=qos_overriding_options,
            raw=raw,
        )

    def destroy(self) -> None:
        """Unsubscribe."""
        self.node.destroy_subscription(self.parameter_event_subscription)

    @staticmethod
    def get_parameter_from_event(event: Any, parameter_name: str, node_name: str) -> Any:
        """The new value of a parameter, as `rcl_interfaces/msg/Parameter`; None if the event is about others.

        Args:
            event: `rcl_interfaces/msg/ParameterEvent`.
            parameter_name: full name.
            node_name: fully qualified name of the node that has it.
        """
        if event.node != node_name:
            return None
        found = ParameterEventHandler.get_parameters_from_event(event)
        return next((parameter for parameter in found if parameter.name == parameter_name), None)

    @staticmethod
    def get_parameters_from_event(event: Any) -> Iterable[Any]:
        """All new and changed parameters of an event."""
        return [*event.new_parameters, *event.changed_parameters]

    def add_parameter_callback(
        self, parameter_name: str, node_name: str, callback: Callable[[Any], None]
    ) -> ParameterCallbackHandle:
        """Call a function with each new value of a parameter.

        Args:
            parameter_name: full name.
            node_name: the node that has it; a relative name is in this node's namespace, an empty one is
                this node.
            callback: gets `rcl_interfaces/msg/Parameter`.
        """
        handle = ParameterCallbackHandle(parameter_name, self._resolve_path(node_name), callback)
        with self._callbacks.lock:
            key = (handle.parameter_name, handle.node_name)
            self._callbacks.parameter_callbacks.setdefault(key, []).insert(0, handle)
        return handle

    def remove_parameter_callback(self, handle: ParameterCallbackHandle) -> None:
        """Undo `add_parameter_callback`.

        Raises:
            RuntimeError: it is not registered.
        """
        key = (handle.parameter_name, handle.node_name)
        with self._callbacks.lock:
            handles = self._callbacks.parameter_callbacks.get(key, [])
            if handle not in handles:
                raise RuntimeError("Callback doesn't exist")
            handles.remove(handle)
            if not handles:
                del self._callbacks.parameter_callbacks[key]

    def add_parameter_event_callback(self, callback: Callable[[Any], None]) -> ParameterEventCallbackHandle:
        """Call a function with each `rcl_interfaces/msg/ParameterEvent`."""
        handle = ParameterEventCallbackHandle(callback)
        with self._callbacks.lock:
            self._callbacks.event_callbacks.insert(0, handle)
        return handle

    def remove_parameter_event_callback(self, handle: ParameterEventCallbackHandle) -> None:
        """Undo `add_parameter_event_callback`.

        Raises:
            RuntimeError: it is not registered.
        """
        with self._callbacks.lock:
            if handle not in self._callbacks.event_callbacks:
                raise RuntimeError("Callback doesn't exist")
            self._callbacks.event_callbacks.remove(handle)

    def configure_nodes_filter(self, node_names: list[str] | None = None) -> bool:
        """Look at events of some nodes only (None or empty: of all); returns True."""
        names = frozenset(self._resolve_path(name) for name in node_names or [])
        with self._callbacks.lock:
            self._callbacks.nodes = names or None
        return True

    def _resolve_path(self, node_path: str | None = None) -> str:
        """The fully qualified name of a node."""
        if not node_path:
            return self.node.get_fully_qualified_name()
        if node_path.startswith("/"):
            return node_path
        return f"{self.node.get_namespace().rstrip('/')}/{node_path}"


pass_on(__name__)
