"""A parameter for all nodes that follow in the scope."""

from __future__ import annotations

from typing import Any

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType, Substitution
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch.utilities.type_utils import is_substitution

from ..parameter_descriptions import evaluate_value


@expose_action("set_parameter")
class SetParameter(Action):
    """Gives the nodes that follow, until the end of the enclosing group, a parameter."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__name = normalize_to_list_of_substitutions(name)
        self.__value = normalize_to_list_of_substitutions(value) if is_substitution(value) else value

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.parse_substitution(entity.get_attr("name"))
        value = entity.get_attr("value", data_type=None)
        text = entity.get_attr("value") if isinstance(value, str) else None
        # Text is read as YAML once its substitutions are known, so "'1'" is a text and "1" is a number.
        kwargs["value"] = (
            parser.parse_if_substitutions(value) if text is None else parser.parse_substitution(text)
        )
        return cls, kwargs

    @property
    def name(self) -> list[Substitution]:
        """The name, before substitution."""
        return self.__name

    @property
    def value(self) -> Any:
        """The value, before substitution."""
        return self.__value

    def describe(self) -> str:
        """Return the name in words."""
        return f"SetParameter({' + '.join(sub.describe() for sub in self.__name)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the parameter."""
        pair = (perform_substitutions(context, self.__name), evaluate_value(context, self.__value))
        others = context.launch_configurations.get("global_params", [])
        context.launch_configurations["global_params"] = [*others, pair]
        return None
