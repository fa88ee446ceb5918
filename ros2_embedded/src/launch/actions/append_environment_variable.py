"""Extending environment variables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from ..utilities.values import SomeBool, as_substitutions, perform_bool

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("append_env")
class AppendEnvironmentVariable(Action):
    """Adds a value behind (or, with `prepend`, before) what an environment variable holds, with a separator
    between."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        prepend: SomeBool = False,
        separator: SomeSubstitutionsType = os.pathsep,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value)
        self.__prepend = prepend
        self.__separator = normalize_to_list_of_substitutions(separator)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.parse_substitution(entity.get_attr("name"))
        kwargs["value"] = parser.parse_substitution(entity.get_attr("value"))
        prepend = entity.get_attr("prepend", data_type=bool, optional=True)
        if prepend is not None:
            kwargs["prepend"] = parser.parse_if_substitutions(prepend)
        separator = entity.get_attr("separator", optional=True)
        if separator is not None:
            kwargs["separator"] = parser.parse_substitution(separator)
        return cls, kwargs

    @property
    def name(self) -> list[Substitution]:
        """The name of the variable, before substitution."""
        return self.__name

    @property
    def value(self) -> list[Substitution]:
        """The value, before substitution."""
        return self.__value

    @property
    def prepend(self) -> bool | list[Substitution]:
        """Whether the value goes in front, before substitution."""
        return self.__prepend if isinstance(self.__prepend, bool) else as_substitutions(self.__prepend)

    @property
    def separator(self) -> list[Substitution]:
        """What stands between, before substitution."""
        return self.__separator

    def describe(self) -> str:
        """Return a short text for people."""
        return f"AppendEnvironmentVariable({' + '.join(sub.describe() for sub in self.__name)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Extend the variable, or set it if it is not there."""
        name = perform_substitutions(context, self.__name)
        parts = [context.environment[name]] if name in context.environment else []
        value = perform_substitutions(context, self.__value)
        parts = [value, *parts] if perform_bool(context, self.__prepend, "prepend") else [*parts, value]
        context.environment[name] = perform_substitutions(context, self.__separator).join(parts)
        return None
