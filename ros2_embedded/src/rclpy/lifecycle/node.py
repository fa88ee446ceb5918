"""Managed nodes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lifecycle_msgs.msg import State, Transition, TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState

from rclpy.callback_groups import CallbackGroup
from rclpy.lifecycle.managed_entity import ManagedEntity
from rclpy.lifecycle.publisher import LifecyclePublisher
from rclpy.lifecycle.state_machine import (
    STATES,
    TRANSITIONS,
    LifecycleState,
    LifecycleTransition,
    StateMachine,
    TransitionCallbackReturn,
    TransitionError,
)
from rclpy.node import Node
from rclpy.passed_on import pass_on
from rclpy.service import Service

if TYPE_CHECKING:
    from rclpy.logging import RcutilsLogger
    from rclpy.publisher import Publisher

_CALLBACKS = {
    State.TRANSITION_STATE_CONFIGURING: "on_configure",
    State.TRANSITION_STATE_CLEANINGUP: "on_cleanup",
    State.TRANSITION_STATE_SHUTTINGDOWN: "on_shutdown",
    State.TRANSITION_STATE_ACTIVATING: "on_activate",
    State.TRANSITION_STATE_DEACTIVATING: "on_deactivate",
    State.TRANSITION_STATE_ERRORPROCESSING: "on_error",
}
_SUCCESS = TransitionCallbackReturn.SUCCESS


def _state_message(state: LifecycleState) -> Any:
    return State(id=state.state_id, label=state.label)


def _describe(transition: LifecycleTransition) -> Any:
    return TransitionDescription(
        transition=Transition(id=transition.transition_id, label=transition.label),
        start_state=_state_message(STATES[transition.start]),
        goal_state=_state_message(STATES[transition.goal]),
    )


class LifecycleNodeMixin(ManagedEntity):
    """Adds the life cycle to a node; use `LifecycleNode`, or mix in before `rclpy.node.Node`."""

    if TYPE_CHECKING:
        create_service: Callable[..., Service]
        create_publisher: Callable[..., Publisher[Any]]
        destroy_publisher: Callable[..., bool]
        get_clock: Callable[[], Any]
        get_logger: Callable[[], RcutilsLogger]

    def __init__(
        self, *, enable_communication_interface: bool = True, callback_group: CallbackGroup | None = None
    ) -> None:
        """Start unconfigured; the node itself must be initialised before.

        Args:
            enable_communication_interface: let other nodes see and change the state.
            callback_group: of the life cycle services; None takes the node's default group.

        Raises:
            TypeError: `enable_communication_interface` is no bool.
        """
        if not isinstance(enable_communication_interface, bool):
            raise TypeError(f"enable_communication_interface: no bool: {enable_communication_interface!r}")
        self._state_machine = StateMachine()
        self._callbacks: dict[int, Callable[[LifecycleState], TransitionCallbackReturn]] = {
            state: getattr(self, name) for state, name in _CALLBACKS.items()
        }
        self._managed_entities: list[ManagedEntity] = []
        self.__event_topic: Any = None
        if not enable_communication_interface:
            return
        self.__event_topic = self.create_publisher(TransitionEvent, "~/transition_event", 10)
        for kind, name, callback in (
            (ChangeState, "change_state", self.__on_change_state),
            (GetState, "get_state", self.__on_get_state),
            (GetAvailableStates, "get_available_states", self.__on_get_states),
            (GetAvailableTransitions, "get_available_transitions", self.__on_get_transitions),
            (GetAvailableTransitions, "get_transition_graph", self.__on_get_graph),
        ):
            service = self.create_service(kind, f"~/{name}", callback, callback_group=callback_group)
            setattr(self._state_machine, f"service_{name}", service)

    def __managed(self, name: str, state: LifecycleState) -> TransitionCallbackReturn:
        """Ask all managed entities; the first that does not succeed decides."""
        for entity in list(self._managed_entities):
            answer: TransitionCallbackReturn = getattr(entity, name)(state)
            if answer is not _SUCCESS:
                return answer
        return _SUCCESS

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure; `state` is the one before. Overrides should call this."""
        return self.__managed("on_configure", state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Undo `on_configure`."""
        return self.__managed("on_cleanup", state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End for good."""
        return self.__managed("on_shutdown", state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start working."""
        return self.__managed("on_activate", state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop working."""
        return self.__managed("on_deactivate", state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Recover after a callback returned ERROR or raised; SUCCESS leads to unconfigured."""
        return self.__managed("on_error", state)

    def add_managed_entity(self, entity: ManagedEntity) -> None:
        """Tell an entity of the transitions.

        Raises:
            TypeError: no `ManagedEntity`.
        """
        if not isinstance(entity, ManagedEntity):
            raise TypeError("Expected a rclpy.lifecycle.ManagedEntity instance.")
        self._managed_entities.append(entity)

    def register_on_configure(self, function: Callable[..., Any]) -> bool:
        """Replace `on_configure`."""
        return self.__register(State.TRANSITION_STATE_CONFIGURING, function)

    def register_on_cleanup(self, function: Callable[..., Any]) -> bool:
        """Replace `on_cleanup`."""
        return self.__register(State.TRANSITION_STATE_CLEANINGUP, function)

    def register_on_shutdown(self, function: Callable[..., Any]) -> bool:
        """Replace `on_shutdown`."""
        return self.__register(State.TRANSITION_STATE_SHUTTINGDOWN, function)

    def register_on_activate(self, function: Callable[..., Any]) -> bool:
        """Replace `on_activate`."""
        return self.__register(State.TRANSITION_STATE_ACTIVATING, function)

    def register_on_deactivate(self, function: Callable[..., Any]) -> bool:
        """Replace `on_deactivate`."""
        return self.__register(State.TRANSITION_STATE_DEACTIVATING, function)

    def register_on_error(self, function: Callable[..., Any]) -> bool:
        """Replace `on_error`."""
        return self.__register(State.TRANSITION_STATE_ERRORPROCESSING, function)

    def __register(self, state: int, function: Callable[..., Any]) -> bool:
        self._callbacks[state] = function
        return True

    def trigger_configure(self) -> TransitionCallbackReturn:
        """Unconfigured to inactive.

        Raises:
            TransitionError: the node is in another state; so for all triggers.
        """
        return self.__change_state("configure")

    def trigger_cleanup(self) -> TransitionCallbackReturn:
        """Inactive to unconfigured."""
        return self.__change_state("cleanup")

    def trigger_shutdown(self) -> TransitionCallbackReturn:
        """Any primary state but finalized to finalized."""
        return self.__change_state("shutdown")

    def trigger_activate(self) -> TransitionCallbackReturn:
        """Inactive to active."""
        return self.__change_state("activate")

    def trigger_deactivate(self) -> TransitionCallbackReturn:
        """Active to inactive."""
        return self.__change_state("deactivate")

    def __step(self, request: int | str) -> None:
        """One transition of the state machine, told on the topic."""
        transition = self._state_machine.trigger(request)
        if self.__event_topic is not None:
            description = _describe(transition)
            self.__event_topic.publish(
                TransitionEvent(
                    timestamp=self.get_clock().now().nanoseconds,
                    transition=description.transition,
                    start_state=description.start_state,
                    goal_state=description.goal_state,
                )
            )

    def __change_state(self, request: int | str) -> TransitionCallbackReturn:
        """A whole transition: callback, outcome, and error handling."""
        before = self._state_machine.state
        self.__step(request)
        answer = self.__run_callback(before)
        self.__step(answer.to_label())
        if answer is TransitionCallbackReturn.ERROR:
            self.__step(self.__run_callback(before).to_label())
        return answer

    def __run_callback(self, before: LifecycleState) -> TransitionCallbackReturn:
        callback = self._callbacks[self._state_machine.state.state_id]
        try:
            answer = callback(before)
        except Exception as error:  # noqa: BLE001 - the user's code failed: the life cycle defines what follows
            told = "".join(traceback.format_exception(error))
            self.get_logger().error(
                f"exception in a callback of state {self._state_machine.state.label}: {error!r}\n{told}"
            )
            return TransitionCallbackReturn.ERROR
        if not isinstance(answer, TransitionCallbackReturn):
            self.get_logger().error(f"{callback} must return a TransitionCallbackReturn, not {answer!r}")
            return TransitionCallbackReturn.ERROR
        return answer

    def __on_change_state(self, request: Any, response: Any) -> Any:
        wanted: int | str = request.transition.id
        try:
            if not wanted and request.transition.label:
                wanted = request.transition.label
            response.success = self.__change_state(wanted) is _SUCCESS
        except TransitionError as error:
            self.get_logger().error(str(error))
            response.success = False
        return response

    def __on_get_state(self, request: Any, response: Any) -> Any:
        response.current_state = _state_message(self._state_machine.state)
        return response

    def __on_get_states(self, request: Any, response: Any) -> Any:
        response.available_states = [_state_message(state) for state in STATES.values()]
        return response

    def __on_get_transitions(self, request: Any, response: Any) -> Any:
        response.available_transitions = [_describe(entry) for entry in self._state_machine.available()]
        return response

    def __on_get_graph(self, request: Any, response: Any) -> Any:
        response.available_transitions = [_describe(entry) for entry in TRANSITIONS]
        return response

    def create_lifecycle_publisher(self, *args: Any, **kwargs: Any) -> LifecyclePublisher:
        """As `create_publisher`; it sends only while the node is active."""
        publisher = self.create_publisher(*args, publisher_class=LifecyclePublisher, **kwargs)
        assert isinstance(publisher, LifecyclePublisher)
        if self._state_machine.state.state_id == State.PRIMARY_STATE_ACTIVE:
            publisher.on_activate(self._state_machine.state)
        self._managed_entities.append(publisher)
        return publisher

    def destroy_lifecycle_publisher(self, publisher: LifecyclePublisher) -> bool:
        """Destroy such a publisher; False when it is none of this node."""
        if publisher in self._managed_entities:
            self._managed_entities.remove(publisher)
        return self.destroy_publisher(publisher)


class LifecycleNode(LifecycleNodeMixin, Node):
    """A managed node."""

    def __init__(
        self,
        node_name: str,
        *,
        enable_communication_interface: bool = True,
        callback_group: CallbackGroup | None = None,
        **kwargs: Any,
    ) -> None:
        """Make a managed node; further arguments as for `rclpy.node.Node`."""
        Node.__init__(self, node_name, **kwargs)
        LifecycleNodeMixin.__init__(
            self,
            enable_communication_interface=enable_communication_interface,
            callback_group=callback_group,
        )


pass_on(__name__)
