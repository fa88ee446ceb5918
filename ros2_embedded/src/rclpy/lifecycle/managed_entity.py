"""Entities that follow the state of their node."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rclpy.lifecycle.state_machine import LifecycleState, TransitionCallbackReturn


class ManagedEntity:
    """Is told of each transition of its node; the answers here are all SUCCESS."""

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The node is being configured."""
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The node is being cleaned up."""
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The node is being shut down."""
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The node is being activated."""
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The node is being deactivated."""
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """The node handles an error."""
        return TransitionCallbackReturn.SUCCESS


class SimpleManagedEntity(ManagedEntity):
    """Is enabled while its node is active."""

    def __init__(self) -> None:
        """Start disabled."""
        self._enabled = False

    @property
    def is_activated(self) -> bool:
        """True while the node is active."""
        return self._enabled

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Enable."""
        self._enabled = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disable."""
        self._enabled = False
        return TransitionCallbackReturn.SUCCESS

    @staticmethod
    def when_enabled(
        wrapped: Callable[..., Any] | None = None, *, when_not_enabled: Callable[..., Any] | None = None
    ) -> Any:
        """Decorator: the method runs while enabled; otherwise `when_not_enabled` runs, or nothing."""

        def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(method)
            def call(self: SimpleManagedEntity, *args: Any, **kwargs: Any) -> Any:
                if self._enabled:
                    return method(self, *args, **kwargs)
                return when_not_enabled() if when_not_enabled is not None else None

            return call

        return decorate if wrapped is None else decorate(wrapped)
