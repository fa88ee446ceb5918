"""The event that ends a launch."""

from __future__ import annotations

from ..event import Event


class Shutdown(Event):
    """The launch is to stop all it started and end.

    Args:
        reason: why, in words.
        due_to_sigint: whether somebody pressed Ctrl-C.
        return_code: what the launch should return: 0 when the end was wished for, the code of the required
            process that failed.
    """

    name = "launch.events.Shutdown"

    def __init__(
        self, *, reason: str = "reason not given", due_to_sigint: bool = False, return_code: int = 0
    ) -> None:
        self.__reason = reason
        self.__due_to_sigint = due_to_sigint
        self.__return_code = return_code

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.__reason

    @property
    def due_to_sigint(self) -> bool:
        """Whether somebody pressed Ctrl-C."""
        return self.__due_to_sigint

    @property
    def return_code(self) -> int:
        """What the launch should return."""
        return self.__return_code
