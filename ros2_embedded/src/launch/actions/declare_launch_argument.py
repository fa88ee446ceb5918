"""Arguments of launch files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities.arguments import ensure_argument_type
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext


@expose_action("arg")
class DeclareLaunchArgument(Action):
    """Declares an argument that `name:=value` or an including launch file can set.

    Args:
        name: the name, without ':='.
        default_value: its value when not given; without it the argument is required.
        description: what `--show-args` says about it.
        choices: the values allowed, all when None.

    Visiting raises RuntimeError when a required argument is missing or a value is not among the choices.
    """

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        ensure_argument_type(name, str, "name", "DeclareLaunchArgument")
        self.__name = name
        self.__default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )
        self.__choices = None if choices is None else list(choices)
        if self.__choices == []:
            raise ValueError(
                f"launch argument '{name}' has an empty list of choices; give choices or leave them out"
            )
        self.__description = "no description given" if description is None else description
        if self.__choices is not None:
            end = "" if self.__description.endswith(".") else "."
            self.__description += f"{end} Valid choices are: {self.__choices}"
        self._conditionally_included = False
        if (
            isinstance(default_value, str)
            and self.__choices is not None
            and default_value not in self.__choices
        ):
            raise ValueError(
                f"launch argument '{name}': default '{default_value}' is not among {self.__choices}"
            )

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["name"] = parser.escape_characters(entity.get_attr("name"))
        default = entity.get_attr("default", optional=True)
        if default is not None:
            kwargs["default_value"] = parser.parse_substitution(default)
        description = entity.get_attr("description", optional=True)
        if description is not None:
            kwargs["description"] = parser.escape_characters(description)
        choices = entity.get_attr("choice", data_type=list[Entity], optional=True)
        if choices is not None:
            kwargs["choices"] = [parser.escape_characters(choice.get_attr("value")) for choice in choices]
        return cls, kwargs

    @property
    def name(self) -> str:
        """The name."""
        return self.__name

    @property
    def default_value(self) -> list[Substitution] | None:
        """The value when not given; None for a required argument."""
        return self.__default_value

    @property
    def description(self) -> str:
        """What it is for."""
        return self.__description

    @property
    def choices(self) -> list[str] | None:
        """The values allowed."""
        return self.__choices

    def describe(self) -> str:
        """Return the name."""
        return f"DeclareLaunchArgument('{self.__name}')"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the configuration to the default if nobody set it, and check its value."""
        if self.__name not in context.launch_configurations:
            if self.__default_value is None:
                raise RuntimeError(
                    f"Required launch argument '{self.__name}' (description: '{self.__description}') was not "
                    "provided; "
                    f"pass {self.__name}:=value"
                )
            value = perform_substitutions(context, self.__default_value)
            context.launch_configurations[self.__name] = value
        value = context.launch_configurations[self.__name]
        if self.__choices is not None and value not in self.__choices:
            raise RuntimeError(
                f"launch argument '{self.__name}': the value '{value}' is not valid. "
                f"Valid options are: {self.__choices}"
            )
        return None
