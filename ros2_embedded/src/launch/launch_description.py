"""The root of a launch file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .actions.declare_launch_argument import DeclareLaunchArgument
    from .actions.include_launch_description import IncludeLaunchDescription
    from .launch_context import LaunchContext


class LaunchDescription(LaunchDescriptionEntity):
    """An ordered list of entities, visited from first to last.

    Args:
        initial_entities: the entities to start with.
        deprecated_reason: a warning to print when the description is used.
    """

    def __init__(
        self,
        initial_entities: Iterable[LaunchDescriptionEntity] | None = None,
        *,
        deprecated_reason: str | None = None,
    ) -> None:
        self.__entities = list(initial_entities) if initial_entities is not None else []
        self.__deprecated_reason = deprecated_reason

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Return the entities, after a warning if the description is deprecated."""
        if self.__deprecated_reason is not None:
            from .logging import get_logger

            get_logger(__name__).warning(f"this launch file is deprecated: {self.__deprecated_reason}")
        return self.__entities

    def describe(self) -> str:
        """Return a short text for people."""
        return f"LaunchDescription({len(self.__entities)} entities)"

    def describe_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities."""
        return list(self.__entities)

    def get_launch_arguments(self, conditional_inclusion: bool = False) -> list[DeclareLaunchArgument]:
        """Return the declared arguments of this description and of what it includes, each name once.

        Args:
            conditional_inclusion: whether what encloses the description depends on a condition.
        """
        from .launch_introspector import declared_arguments

        return declared_arguments(self, conditional_inclusion)

    def get_launch_arguments_with_include_launch_description_actions(
        self, conditional_inclusion: bool = False
    ) -> list[tuple[DeclareLaunchArgument, list[IncludeLaunchDescription]]]:
        """Return the declared arguments, each with the inclusions that lead to it, the outermost first.

        Args:
            conditional_inclusion: whether what encloses the description depends on a condition.
        """
        from .launch_introspector import declared_arguments, inclusions

        paths = inclusions(self)
        return [
            (argument, paths.get(id(argument), []))
            for argument in declared_arguments(self, conditional_inclusion)
        ]

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        """The entities, in order."""
        return self.__entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Append an entity."""
        self.__entities.append(entity)

    def add_action(self, action: LaunchDescriptionEntity) -> None:
        """Append an action."""
        self.add_entity(action)

    @property
    def deprecated(self) -> bool:
        """Whether the description warns when used."""
        return self.__deprecated_reason is not None

    @property
    def deprecated_reason(self) -> str | None:
        """Why it is deprecated."""
        return self.__deprecated_reason
