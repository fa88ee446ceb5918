"""A Python function as an action."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class OpaqueFunction(Action):
    """Calls `function(context, *args, **kwargs)`; the entities it returns are visited next."""

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        **left_over_kwargs: Any,
    ) -> None:
        super().__init__(**left_over_kwargs)
        if not callable(function):
            raise TypeError(f"OpaqueFunction takes a callable, not {function!r}")
        self.__function = function
        self.__args = tuple(args or ())
        self.__kwargs = dict(kwargs or {})

    def describe(self) -> str:
        """Return the function's name."""
        return f"OpaqueFunction({getattr(self.__function, '__name__', repr(self.__function))})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Call the function."""
        result: list[LaunchDescriptionEntity] | None = self.__function(context, *self.__args, **self.__kwargs)
        return result
