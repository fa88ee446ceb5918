"""Entities made once for each of several values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..substitutions.for_variable import local_name
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from .opaque_function import OpaqueFunction

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("for_each")
class ForEach(Action):
    """Visits what a function returns for each set of values.

    `ForEach("{name: a, id: 1};{name: b, id: 2}", function=f)` visits what `f(name='a', id=1)` and
    `f(name='b', id=2)` return. In markup the elements inside are visited, with the values as
    `$(for-var name)`.

    Args:
        input_values: YAML mappings, separated by ';'.
        function: returns entities or None.
    """

    SEPARATOR = ";"

    def __init__(
        self, input_values: SomeSubstitutionsType, *, function: Callable[..., Any], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__input_values = normalize_to_list_of_substitutions(input_values)
        self.__function = function

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["input_values"] = parser.parse_substitution(entity.get_attr("values"))
        children = [parser.parse_action(child) for child in entity.children]
        kwargs["function"] = lambda **values: _with_locals(children, values)
        return cls, kwargs

    @property
    def input_values(self) -> list[Substitution]:
        """The sets of values, before substitution."""
        return self.__input_values

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""
        return self.__function

    def describe(self) -> str:
        """Return the values in words."""
        return f"ForEach({' + '.join(sub.describe() for sub in self.__input_values)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Return the entities of all iterations; raise ValueError for a part that is no mapping."""
        import yaml  # here, because most launches get by without it

        entities: list[LaunchDescriptionEntity] = []
        for part in perform_substitutions(context, self.__input_values).split(self.SEPARATOR):
            if not part.strip():
                continue
            values = yaml.safe_load(part)
            if not isinstance(values, dict):
                raise ValueError(f"values of ForEach: '{part}' is no YAML mapping such as {{name: a}}")
            entities += self.__function(**values) or []
        return entities


@expose_action("for")
class ForLoop(Action):
    """Visits what a function returns for each number from 0 to a length, exclusive.

    In markup the elements inside are visited, with the number as `$(index name)`.

    Args:
        length: how often.
        function: takes the number as `i`, returns entities or None.
        name: what the number is called in markup.
    """

    def __init__(
        self,
        length: SomeSubstitutionsType,
        *,
        function: Callable[..., Any],
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__length = normalize_to_list_of_substitutions(length)
        self.__function = function
        self.__name = name

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        length = entity.get_attr("len", data_type=int)
        kwargs["length"] = parser.parse_substitution(str(length))
        name = kwargs["name"] = entity.get_attr("name")
        children = [parser.parse_action(child) for child in entity.children]
        kwargs["function"] = lambda i: _with_locals(children, {name: i})
        return cls, kwargs

    @property
    def length(self) -> list[Substitution]:
        """How often, before substitution."""
        return self.__length

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""
        return self.__function

    @property
    def name(self) -> str | None:
        """What the number is called in markup."""
        return self.__name

    def describe(self) -> str:
        """Return the length in words."""
        return f"ForLoop({' + '.join(sub.describe() for sub in self.__length)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Return a `ForEach` over the numbers; raise ValueError when the length is no integer."""
        length = int(perform_substitutions(context, self.__length))
        return [ForEach(";".join(f"{{i: {i}}}" for i in range(length)), function=self.__function)]


def _with_locals(entities: list[Action], values: Mapping[str, Any]) -> list[LaunchDescriptionEntity]:
    """Return copies of the entities, framed by what opens a scope, sets the values in it and closes it."""
    named = {local_name(name): str(value) for name, value in values.items()}
    return [
        OpaqueFunction(function=lambda context: context._push_locals()),
        OpaqueFunction(function=lambda context: context.extend_locals(named)),
        *copy.deepcopy(entities),  # a process action runs once, so each iteration has its own
        OpaqueFunction(function=lambda context: context._pop_locals()),
    ]
