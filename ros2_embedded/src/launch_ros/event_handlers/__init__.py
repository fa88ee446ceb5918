"""Reactions to events about nodes."""

from .on_state_transition import OnStateTransition

__all__ = ["OnStateTransition"]
