"""What the actions on environment variables and on launch configurations share: both are values by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


class UnsetVariable(Action):
    """Removes the value of a name."""

    def __init__(self, name: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._name = normalize_to_list_of_substitutions(name)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.parse_substitution(entity.get_attr("name"))
        return cls, kwargs

    @property
    def name(self) -> list[Substitution]:
        """The name, before substitution."""
        return self._name

    def describe(self) -> str:
        """Return a short text for people."""
        return f"{type(self).__name__}({' + '.join(sub.describe() for sub in self._name)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Remove the value if there is one."""
        self._values(context).pop(perform_substitutions(context, self._name), None)
        return None

    def _values(self, context: LaunchContext) -> dict[str, str]:
        """The values by name that the action changes."""
        raise NotImplementedError


class SetVariable(UnsetVariable):
    """Sets the value of a name."""

    def __init__(self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._value = normalize_to_list_of_substitutions(value)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["value"] = parser.parse_substitution(entity.get_attr("value"))
        return cls, kwargs

    @property
    def value(self) -> list[Substitution]:
        """The value, before substitution."""
        return self._value

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the value."""
        name = perform_substitutions(context, self._name)
        self._values(context)[name] = perform_substitutions(context, self._value)
        return None
