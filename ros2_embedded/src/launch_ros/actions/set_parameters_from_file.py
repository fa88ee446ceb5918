"""A parameter file for all nodes that follow in the scope."""

from __future__ import annotations

from typing import Any

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@expose_action("set_parameters_from_file")
class SetParametersFromFile(Action):
    """Gives the nodes that follow, until the end of the enclosing group, the parameters of a file.

    Args:
        filename: path of the file.
        node_name: accepted for ROS 2's sake: which nodes a file is for is written in the file.
    """

    def __init__(
        self, filename: SomeSubstitutionsType, node_name: SomeSubstitutionsType | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.__filename = normalize_to_list_of_substitutions(filename)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["filename"] = parser.parse_substitution(entity.get_attr("filename"))
        node_name = entity.get_attr("node_name", optional=True)
        if node_name is not None:
            kwargs["node_name"] = parser.parse_substitution(node_name)
        return cls, kwargs

    def describe(self) -> str:
        """Return the path in words."""
        return f"SetParametersFromFile({' + '.join(sub.describe() for sub in self.__filename)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Add the file."""
        others = context.launch_configurations.get("global_params", [])
        context.launch_configurations["global_params"] = [
            *others,
            perform_substitutions(context, self.__filename),
        ]
        return None
