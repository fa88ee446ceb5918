"""A remapping for all nodes that follow in the scope."""

from __future__ import annotations

from typing import Any

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@expose_action("set_remap")
class SetRemap(Action):
    """Remaps a name in the nodes that follow, until the end of the enclosing group."""

    def __init__(self, src: SomeSubstitutionsType, dst: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__src = normalize_to_list_of_substitutions(src)
        self.__dst = normalize_to_list_of_substitutions(dst)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["src"] = parser.parse_substitution(entity.get_attr("from"))
        kwargs["dst"] = parser.parse_substitution(entity.get_attr("to"))
        return cls, kwargs

    @property
    def src(self) -> list[Any]:
        """The name, before substitution."""
        return self.__src

    @property
    def dst(self) -> list[Any]:
        """What it becomes, before substitution."""
        return self.__dst

    def describe(self) -> str:
        """Return both names in words."""
        names = (" + ".join(sub.describe() for sub in part) for part in (self.__src, self.__dst))
        return f"SetRemap({', '.join(names)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Add the rule."""
        rule = (perform_substitutions(context, self.__src), perform_substitutions(context, self.__dst))
        context.launch_configurations["ros_remaps"] = [
            *context.launch_configurations.get("ros_remaps", []),
            rule,
        ]
        return None
