"""One launch file in another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..frontend.entity import Entity
from ..frontend.expose import expose_action
from ..frontend.pairs import parse_pairs
from ..launch_description_entity import LaunchDescriptionEntity
from ..launch_description_source import LaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType
from ..utilities.substitutions import normalize_to_list_of_substitutions, perform_substitutions
from .set_launch_configuration import SetLaunchConfiguration

if TYPE_CHECKING:
    from ..frontend.parser import Parser
    from ..launch_context import LaunchContext
    from ..launch_description import LaunchDescription

Arguments = (
    Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]
    | Mapping[SomeSubstitutionsType, SomeSubstitutionsType]
)


@expose_action("include")
class IncludeLaunchDescription(Action):
    """Visits the description of another source.

    The arguments are launch configurations, which the included description shares with its includer and which
    stay set; put the action into a `GroupAction` to keep them apart.

    Args:
        launch_description_source: the source, or the path of a launch file.
        launch_arguments: pairs of name and value.
    """

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: Arguments | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            from ..launch_description_sources import AnyLaunchDescriptionSource

            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self.__source = launch_description_source
        self.__before: dict[str, Any] = {}
        pairs = launch_arguments.items() if isinstance(launch_arguments, Mapping) else launch_arguments or ()
        self.__arguments = [
            (normalize_to_list_of_substitutions(name), normalize_to_list_of_substitutions(value))
            for name, value in pairs
        ]

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["launch_description_source"] = parser.parse_substitution(entity.get_attr("file"))
        kwargs["launch_arguments"] = []
        for tag in ("arg", "let"):
            elements = entity.get_attr(tag, data_type=list[Entity], optional=True)
            kwargs["launch_arguments"] += parse_pairs(elements, parser)
        return cls, kwargs

    @property
    def launch_description_source(self) -> LaunchDescriptionSource:
        """The source."""
        return self.__source

    @property
    def launch_arguments(self) -> list[tuple[Any, Any]]:
        """The pairs of name and value."""
        return list(self.__arguments)

    def describe(self) -> str:
        """Return where the description comes from."""
        return f"IncludeLaunchDescription({self.__source.location})"

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the included description if it can be had now and hangs on no condition."""
        return [] if self.condition is not None else self.__known_description()

    def describe_conditional_sub_entities(self) -> list[tuple[str, Iterable[LaunchDescriptionEntity]]]:
        """Return the included description if it can be had now and hangs on a condition."""
        return [] if self.condition is None else [(self.condition.describe(), self.__known_description())]

    def __known_description(self) -> list[LaunchDescriptionEntity]:
        description = self.__source.try_get_launch_description_without_context()
        return [] if description is None else [description]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the arguments and return the description, whose file is the current one while it is visited."""
        description = self.__source.get_launch_description(context)
        self.__before = {name: context.get_locals_as_dict().get(name) for name in _LOCATION}
        self._enter_file(context)
        arguments = [(perform_substitutions(context, name), value) for name, value in self.__arguments]
        self.__check_required(description, {name for name, _ in arguments})
        settings = [SetLaunchConfiguration(name, value) for name, value in arguments]
        return [*settings, description]

    def _leave(self, context: LaunchContext) -> None:
        """Have the includer's launch file be the current one again."""
        context.extend_locals(self.__before)
        self.__before = {}

    def _enter_file(self, context: LaunchContext) -> None:
        location = self.__source.location
        path = os.path.abspath(location)
        if os.path.isfile(path):
            values: tuple[str | None, str | None] = (path, os.path.dirname(path))
        else:
            values = (location or None, location or None)  # such as '<script>'
        context.extend_locals(dict(zip(_LOCATION, values, strict=True)))

    def _names_given(self) -> list[str]:
        """Return the names of the arguments, as far as they are plain text."""
        from ..substitutions.text_substitution import TextSubstitution

        return [
            "".join(part.text for part in name if isinstance(part, TextSubstitution))
            for name, _ in self.__arguments
            if all(isinstance(part, TextSubstitution) for part in name)
        ]

    def __check_required(self, description: LaunchDescription, given: set[str]) -> None:
        """Raise RuntimeError for an argument without a default that no inclusion on the way to it gives."""
        pairs = description.get_launch_arguments_with_include_launch_description_actions()
        for argument, inclusions in pairs:
            known = given.union(*(inclusion._names_given() for inclusion in inclusions))
            if argument.default_value is None and not argument._conditionally_included:
                if argument.name in known:
                    continue
                raise RuntimeError(
                    f"Included launch description missing required argument '{argument.name}' "
                    f"(description: '{argument.description}'), given: {sorted(known)}; "
                    f"pass {argument.name}:=value, or put it into launch_arguments where "
                    f"'{self.__source.location}' is included"
                )


_LOCATION = ("current_launch_file_path", "current_launch_file_directory")
