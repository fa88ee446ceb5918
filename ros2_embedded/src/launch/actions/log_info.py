"""Lines in the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..logging import get_logger
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@expose_action("log")
class Log(Action):
    """Logs a message as `[LEVEL] [launch.user]: text`.

    Args:
        msg: the message.
        level: DEBUG, INFO, WARNING or ERROR, in any case.
    """

    def __init__(
        self, *, msg: SomeSubstitutionsType, level: SomeSubstitutionsType = "INFO", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__msg = normalize_to_list_of_substitutions(msg)
        self.__level = normalize_to_list_of_substitutions(level)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["msg"] = parser.parse_substitution(entity.get_attr("message"))
        if cls is not Log:
            return cls, kwargs
        level = entity.get_attr("level", optional=True)
        if level is None:
            return LogInfo, kwargs
        kwargs["level"] = parser.parse_substitution(level)
        return cls, kwargs

    @property
    def msg(self) -> list[Substitution]:
        """The message, before substitution."""
        return self.__msg

    @property
    def level(self) -> list[Substitution]:
        """The level, before substitution."""
        return self.__level

    def describe(self) -> str:
        """Return the message in words."""
        return f"{type(self).__name__}({' + '.join(sub.describe() for sub in self.__msg)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Log the message; raise ValueError for an unknown level."""
        level = perform_substitutions(context, self.__level).upper()
        if level not in LEVELS:
            raise ValueError(f"log level '{level}' is unknown; use one of {', '.join(LEVELS)}")
        get_logger("launch.user").log(logging.getLevelName(level), perform_substitutions(context, self.__msg))
        return None


class _FixedLevel(Log):
    """A message of the level that the class stands for."""

    _level = "INFO"

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(msg=msg, level=self._level, **kwargs)


@expose_action("log_info")
class LogInfo(_FixedLevel):
    """Logs a message at level INFO."""


@expose_action("log_debug")
class LogDebug(_FixedLevel):
    """Logs a message at level DEBUG."""

    _level = "DEBUG"


@expose_action("log_warning")
class LogWarning(_FixedLevel):
    """Logs a message at level WARNING."""

    _level = "WARNING"


@expose_action("log_error")
class LogError(_FixedLevel):
    """Logs a message at level ERROR."""

    _level = "ERROR"
