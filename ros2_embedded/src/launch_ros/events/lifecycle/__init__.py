"""Events about the states of lifecycle nodes."""

from .change_state import ChangeState
from .state_transition import StateTransition

__all__ = ["ChangeState", "StateTransition"]
