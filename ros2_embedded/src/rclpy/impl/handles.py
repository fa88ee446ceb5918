"""The entities of rclpy's C extension, as `handle` of an entity gives them and as programs make them.

There is no C library below: each of these stands for an entity of this package.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from enum import IntEnum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rclpy.handle import Handle

if TYPE_CHECKING:
    from rclpy.entity import Entity
    from rclpy.impl.rmw_qos_profile import rmw_qos_profile_t


class EntityHandle(Handle):
    """The handle of an entity. Made by its class, it owns one that no executor takes from."""

    _owner: Any

    def _of(self, entity: Entity) -> None:
        """Stand for an entity."""
        Handle.__init__(self, lambda: not entity._destroyed, entity)
        self._stop_watching: Callable[[], None] | None = None

    def _own(self, entity: Entity) -> None:
        """Stand for an entity that goes with this handle."""
        self._of(entity)
        weakref.finalize(self, entity.destroy).atexit = False

    def _watch(self, callback: Callable[[int], Any], waiting: int = 0) -> None:
        """Call a function with the number of things that came, in the thread that brings them."""
        self._unwatch()
        self._stop_watching = self._owner._watch(lambda: callback(1))
        if waiting:
            callback(waiting)

    def _unwatch(self) -> None:
        if self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None


def handle_of(entity: Entity, kind: type[EntityHandle]) -> EntityHandle:
    """Return a handle of an entity that is there already."""
    handle = kind.__new__(kind)
    handle._of(entity)
    return handle


class SubscriptionHandle(EntityHandle):
    """A subscription without a callback."""

    def __init__(self, node: Handle, pymsg_type: Any, topic: str, pyqos_profile: rmw_qos_profile_t) -> None:
        """Subscribe.

        Args:
            node: the handle of a node.
            pymsg_type: message class.
            topic: relative, private or absolute name.
            pyqos_profile: what `QoSProfile.get_c_qos_profile` gives.
        """
        from rclpy.endpoint import check_is_interface
        from rclpy.qos import QoSProfile
        from rclpy.subscription import Subscription

        owner, name = node._owner, check_is_interface(pymsg_type, ("msg",))
        full, profile = owner.resolve_topic_name(topic), QoSProfile(**pyqos_profile.to_dict())
        self._own(Subscription(owner, pymsg_type, full, _ignore, None, profile, False, name))

    def take_message(self, pymsg_type: Any, raw: bool) -> tuple[Any, Any] | None:
        """Return the oldest message that waits, or its CDR bytes, and its info; None without one."""
        self._owner.raw = raw
        taken: tuple[Any, Any] | None = self._owner.take_message()
        return taken

    def get_topic_name(self) -> str:
        """Return the fully qualified topic."""
        return str(self._owner.topic)

    def get_publisher_count(self) -> int:
        """Return how many publishers of this topic are in the graph."""
        return int(self._owner.get_publisher_count())

    def set_on_new_message_callback(self, callback: Callable[[int], Any]) -> None:
        """Call a function with the number of messages that came; those that wait are told of at once."""
        self._watch(callback, len(self._owner._queue))

    def clear_on_new_message_callback(self) -> None:
        """Undo `set_on_new_message_callback`."""
        self._unwatch()


class ServiceHandle(EntityHandle):
    """A service without a callback."""

    def __init__(
        self, node: Handle, pysrv_type: Any, service_name: str, pyqos_profile: rmw_qos_profile_t
    ) -> None:
        """Serve; arguments as those of `SubscriptionHandle`."""
        from rclpy.endpoint import check_is_interface
        from rclpy.qos import QoSProfile
        from rclpy.service import Service

        owner, name = node._owner, check_is_interface(pysrv_type, ("srv",))
        full, profile = owner.resolve_service_name(service_name), QoSProfile(**pyqos_profile.to_dict())
        self._own(Service(owner, pysrv_type, full, _ignore, None, profile, name))

    @property
    def name(self) -> str:
        """The fully qualified name."""
        return str(self._owner.srv_name)

    def service_take_request(self, pyrequest_type: Any) -> tuple[Any, Any]:
        """Return the oldest request that waits, and its header; None and None without one."""
        return self._owner.take_request() or (None, None)

    def service_send_response(self, pyresponse: Any, header: Any) -> None:
        """Answer a request."""
        self._owner.send_response(pyresponse, header)

    def set_on_new_request_callback(self, callback: Callable[[int], Any]) -> None:
        """Call a function with the number of requests that came; those that wait are told of at once."""
        self._watch(callback, len(self._owner._queue))

    def clear_on_new_request_callback(self) -> None:
        """Undo `set_on_new_request_callback`."""
        self._unwatch()


class ClientHandle(EntityHandle):
    """A client without futures."""

    def __init__(
        self, node: Handle, pysrv_type: Any, service_name: str, pyqos_profile: rmw_qos_profile_t
    ) -> None:
        """Make a client; arguments as those of `SubscriptionHandle`."""
        from rclpy.client import Client
        from rclpy.endpoint import check_is_interface
        from rclpy.qos import QoSProfile

        owner, name = node._owner, check_is_interface(pysrv_type, ("srv",))
        full, profile = owner.resolve_service_name(service_name), QoSProfile(**pyqos_profile.to_dict())
        self._own(Client(owner, pysrv_type, full, profile, None, name))

    @property
    def service_name(self) -> str:
        """The fully qualified name."""
        return str(self._owner.srv_name)

    def service_server_is_available(self) -> bool:
        """Return whether a server of this name and type is in the graph."""
        return bool(self._owner.service_is_ready())

    def send_request(self, pyrequest: Any) -> int:
        """Ask; returns the number that `take_response` gives with the answer."""
        return int(self._owner._send(pyrequest)[0])

    def take_response(self, pyresponse_type: Any) -> tuple[Any, Any]:
        """Return the header of the oldest answer that waits, and the answer; None and None without one."""
        taken = self._owner._take_response()
        if taken is None:
            return None, None
        sequence, response = taken
        return SimpleNamespace(request_id=SimpleNamespace(sequence_number=sequence)), response

    def set_on_new_response_callback(self, callback: Callable[[int], Any]) -> None:
        """Call a function with the number of answers that came; those that wait are told of at once."""
        self._watch(callback, len(self._owner._replies))

    def clear_on_new_response_callback(self) -> None:
        """Undo `set_on_new_response_callback`."""
        self._unwatch()


class TimerHandle(EntityHandle):
    """A timer without a callback."""

    def __init__(self, clock: Handle, context: Handle, period_nsec: int, autostart: bool = True) -> None:
        """Make a timer with a period [ns], of the handles of a clock and of a context."""
        from rclpy.timer import Timer

        self._own(Timer(None, None, period_nsec, clock._owner, autostart=autostart))

    def call_timer(self) -> None:
        """Set the time of the next call, when this one is due."""
        self._owner.take()

    def is_timer_ready(self) -> bool:
        """Return whether a call is due."""
        return bool(self._owner.is_pending())

    def time_until_next_call(self) -> int | None:
        """Return the time until the next call [ns], None while canceled."""
        left: int | None = self._owner.time_until_next_call()
        return left

    def set_on_reset_callback(self, callback: Callable[[int], Any]) -> None:
        """Call a function when the timer is reset, with the number of times."""
        self._watch(callback)

    def clear_on_reset_callback(self) -> None:
        """Undo `set_on_reset_callback`."""
        self._unwatch()


class GuardConditionHandle(EntityHandle):
    """A guard condition without a callback."""

    def __init__(self, context: Handle) -> None:
        """Make one, of the handle of a context."""
        from rclpy.guard_condition import GuardCondition

        self._own(GuardCondition(None, None))

    def trigger_guard_condition(self) -> None:
        """Trigger it; any thread may call this."""
        self._owner.trigger()

    def set_on_trigger_callback(self, callback: Callable[[int], Any]) -> None:
        """Call a function at each trigger, with the number of times."""
        self._watch(callback)

    def clear_on_trigger_callback(self) -> None:
        """Undo `set_on_trigger_callback`."""
        self._unwatch()


class EventHandle(EntityHandle):
    """One kind of event of a publisher or of a subscription."""

    def __init__(self, parent: Handle, event_type: IntEnum) -> None:
        """Name the kind, by the handle of its owner."""
        from rclpy.event_handler import no_event
        from rclpy.guard_condition import GuardCondition

        self._own(GuardCondition(None, None))  # never triggered: such events do not come
        self._event = no_event(event_type)

    def take_event(self) -> Any:
        """Return the info of the event, here always that of none."""
        return self._event


def _ignore(message: Any, more: Any = None) -> None:
    """What comes is taken by hand."""
