"""The state machine of managed nodes (ROS 2 design: managed nodes; ids of `lifecycle_msgs`)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from lifecycle_msgs.msg import State, Transition

from rclpy.impl.errors import RCLError

if TYPE_CHECKING:
    from rclpy.service import Service


class LifecycleState(NamedTuple):
    """A state: label and id of `lifecycle_msgs/msg/State`."""

    label: str
    state_id: int


class LifecycleTransition(NamedTuple):
    """A transition: its id and label, and the states it joins."""

    transition_id: int
    label: str
    start: int
    goal: int


class TransitionCallbackReturn(Enum):
    """What a transition callback returns."""

    SUCCESS = Transition.TRANSITION_CALLBACK_SUCCESS
    FAILURE = Transition.TRANSITION_CALLBACK_FAILURE
    ERROR = Transition.TRANSITION_CALLBACK_ERROR

    def to_label(self) -> str:
        """The label of the transition that follows."""
        return f"transition_{self.name.lower()}"


class TransitionError(RCLError):
    """The transition does not start in the present state."""


_LABELS = {
    State.PRIMARY_STATE_UNKNOWN: "unknown",
    State.PRIMARY_STATE_UNCONFIGURED: "unconfigured",
    State.PRIMARY_STATE_INACTIVE: "inactive",
    State.PRIMARY_STATE_ACTIVE: "active",
    State.PRIMARY_STATE_FINALIZED: "finalized",
    State.TRANSITION_STATE_CONFIGURING: "configuring",
    State.TRANSITION_STATE_CLEANINGUP: "cleaningup",
    State.TRANSITION_STATE_SHUTTINGDOWN: "shuttingdown",
    State.TRANSITION_STATE_ACTIVATING: "activating",
    State.TRANSITION_STATE_DEACTIVATING: "deactivating",
    State.TRANSITION_STATE_ERRORPROCESSING: "errorprocessing",
}
STATES = {number: LifecycleState(label, number) for number, label in _LABELS.items()}
_UNCONFIGURED, _INACTIVE = State.PRIMARY_STATE_UNCONFIGURED, State.PRIMARY_STATE_INACTIVE
_ACTIVE, _FINALIZED = State.PRIMARY_STATE_ACTIVE, State.PRIMARY_STATE_FINALIZED
_ERROR = State.TRANSITION_STATE_ERRORPROCESSING
# (transition state, id of its success, and where success, failure and error lead)
_OUTCOMES = (
    (State.TRANSITION_STATE_CONFIGURING, 10, _INACTIVE, _UNCONFIGURED, _ERROR),
    (State.TRANSITION_STATE_CLEANINGUP, 20, _UNCONFIGURED, _INACTIVE, _ERROR),
    (State.TRANSITION_STATE_ACTIVATING, 30, _ACTIVE, _INACTIVE, _ERROR),
    (State.TRANSITION_STATE_DEACTIVATING, 40, _INACTIVE, _ACTIVE, _ERROR),
    (State.TRANSITION_STATE_SHUTTINGDOWN, 50, _FINALIZED, _FINALIZED, _ERROR),
    (_ERROR, 60, _UNCONFIGURED, _FINALIZED, _FINALIZED),
)
_REQUESTS = (
    (Transition.TRANSITION_CONFIGURE, "configure", _UNCONFIGURED, State.TRANSITION_STATE_CONFIGURING),
    (Transition.TRANSITION_CLEANUP, "cleanup", _INACTIVE, State.TRANSITION_STATE_CLEANINGUP),
    (Transition.TRANSITION_ACTIVATE, "activate", _INACTIVE, State.TRANSITION_STATE_ACTIVATING),
    (Transition.TRANSITION_DEACTIVATE, "deactivate", _ACTIVE, State.TRANSITION_STATE_DEACTIVATING),
    (
        Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
        "shutdown",
        _UNCONFIGURED,
        State.TRANSITION_STATE_SHUTTINGDOWN,
    ),
    (Transition.TRANSITION_INACTIVE_SHUTDOWN, "shutdown", _INACTIVE, State.TRANSITION_STATE_SHUTTINGDOWN),
    (Transition.TRANSITION_ACTIVE_SHUTDOWN, "shutdown", _ACTIVE, State.TRANSITION_STATE_SHUTTINGDOWN),
)


def _all_transitions() -> list[LifecycleTransition]:
    """All transitions in the order of rcl: those into a transition state, then its outcomes."""
    found: list[LifecycleTransition] = []
    for start, first_id, *goals in _OUTCOMES:
        found += [LifecycleTransition(*entry) for entry in _REQUESTS if entry[-1] == start]
        for offset, (outcome, goal) in enumerate(zip(TransitionCallbackReturn, goals, strict=True)):
            found.append(LifecycleTransition(first_id + offset, outcome.to_label(), start, goal))
    return found


TRANSITIONS = _all_transitions()


class StateMachine:
    """Holds the present state and allows the legal transitions only.

    Also holds the services that ask for it; None where the node has none.
    """

    def __init__(self) -> None:
        """Start unconfigured."""
        self.state = STATES[_UNCONFIGURED]
        self.service_change_state: Service | None = None
        self.service_get_state: Service | None = None
        self.service_get_available_states: Service | None = None
        self.service_get_available_transitions: Service | None = None
        self.service_get_transition_graph: Service | None = None

    @property
    def current_state(self) -> tuple[int, str]:
        """Id and label of the present state."""
        return self.state.state_id, self.state.label

    def available(self) -> list[LifecycleTransition]:
        """The transitions that start in the present state."""
        return [transition for transition in TRANSITIONS if transition.start == self.state.state_id]

    def find(self, request: int | str) -> LifecycleTransition:
        """The available transition of an id or a label.

        Raises:
            TransitionError: none.
        """
        for transition in self.available():
            if request in (transition.transition_id, transition.label):
                return transition
        allowed = sorted({t.label for t in self.available()})
        raise TransitionError(
            f"Transition {request!r} is not registered for state '{self.state.label}'; possible: {allowed}"
        )

    def trigger(self, request: int | str) -> LifecycleTransition:
        """Do a transition and return it.

        Raises:
            TransitionError: it does not start in the present state.
        """
        transition = self.find(request)
        self.state = STATES[transition.goal]
        return transition
