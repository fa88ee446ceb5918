"""Reactions to what a process writes."""

from __future__ import annotations

from typing import Any

from launch.event_handlers import OnProcessIO
from launch.some_entities_type import SomeEntitiesType

__all__ = ["StdoutReadyListener"]


class StdoutReadyListener(OnProcessIO):
    """Visits entities, such as a `ReadyToTest`, once a process has written a text to stdout.

    Args:
        target_action: the action that starts the process; None for any.
        ready_txt: the text.
        actions: the entities.
    """

    def __init__(self, *, target_action: Any = None, ready_txt: str, actions: list[SomeEntitiesType]) -> None:
        self.__text, self.__actions = ready_txt, actions
        self.__written: dict[str, bytes] = {}
        self.__is_done = False
        super().__init__(target_action=target_action, on_stdout=self.__on_stdout)

    def __on_stdout(self, event: Any) -> Any:
        self.__written[event.process_name] = self.__written.get(event.process_name, b"") + event.text
        if self.__is_done or self.__text.encode() not in self.__written[event.process_name]:
            return None
        self.__is_done = True
        return self.__actions
