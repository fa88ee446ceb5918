"""Where nodes write their log files."""

from __future__ import annotations

import os
from typing import Any

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.frontend import Entity, Parser, expose_action
from launch.logging import get_logging_directory
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@expose_action("set_ros_log_dir")
class SetROSLogDir(Action):
    """Sets the log directory of the nodes that follow, until the end of the enclosing group.

    Args:
        new_log_dir: the directory, below the one before unless it is absolute.
    """

    def __init__(self, new_log_dir: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__log_dir = normalize_to_list_of_substitutions(new_log_dir)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["new_log_dir"] = parser.parse_substitution(entity.get_attr("new_log_dir"))
        return cls, kwargs

    @property
    def log_dir(self) -> list[Any]:
        """The directory, before substitution."""
        return self.__log_dir

    def describe(self) -> str:
        """Return the directory in words."""
        return f"SetROSLogDir({' + '.join(sub.describe() for sub in self.__log_dir)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the variable ROS_LOG_DIR of what is started from here on."""
        before = context.environment.get("ROS_LOG_DIR") or str(get_logging_directory())
        new = perform_substitutions(context, self.__log_dir)
        context.environment["ROS_LOG_DIR"] = os.path.join(before, new) if new else before
        return None
