"""Reaction to input and output of processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..event import Event
from ..events.process import ProcessIO
from ..some_entities_type import SomeEntitiesType
from .on_action_event_base import OnActionEventBase

if TYPE_CHECKING:
    from ..action import Action
    from ..launch_context import LaunchContext

OnIO = Callable[[ProcessIO], Any]


class OnProcessIO(OnActionEventBase):
    """Calls `on_stdin`, `on_stdout` or `on_stderr` with each `ProcessIO` event; what it returns is visited.

    The bytes of one event are what arrived at once, which is not always one line.
    """

    def __init__(
        self,
        *,
        target_action: Callable[[Any], bool] | Action | None = None,
        on_stdin: OnIO | None = None,
        on_stdout: OnIO | None = None,
        on_stderr: OnIO | None = None,
        handle_once: bool = False,
    ) -> None:
        from ..actions.execute_local import ExecuteLocal

        self.__callbacks = {0: on_stdin, 1: on_stdout, 2: on_stderr}
        super().__init__(
            action_matcher=target_action,
            on_event=self._dispatch,
            target_event_cls=ProcessIO,
            target_action_cls=ExecuteLocal,
            handle_once=handle_once,
        )

    def _dispatch(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        callback = self.__callbacks[event.fd] if isinstance(event, ProcessIO) else None
        if callback is None or not isinstance(event, ProcessIO):
            return None
        result: SomeEntitiesType | None = callback(event)
        return result
