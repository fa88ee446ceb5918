"""A namespace for all that follows in the scope."""

from __future__ import annotations

from typing import Any

from launch import Action, LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType, Substitution
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..utilities.namespace_utils import prefix_namespace


@expose_action("push_ros_namespace")
@expose_action("push-ros-namespace")
class PushROSNamespace(Action):
    """Puts the nodes that follow, until the end of the enclosing group, below a namespace."""

    def __init__(self, namespace: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__namespace = normalize_to_list_of_substitutions(namespace)

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser)
        kwargs["namespace"] = parser.parse_substitution(entity.get_attr("namespace"))
        return cls, kwargs

    @property
    def namespace(self) -> list[Substitution]:
        """The namespace, before substitution."""
        return self.__namespace

    def describe(self) -> str:
        """Return the namespace in words."""
        return f"PushROSNamespace({' + '.join(sub.describe() for sub in self.__namespace)})"

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Set the namespace, below the one set before unless it is absolute."""
        before = context.launch_configurations.get("ros_namespace")
        namespace = prefix_namespace(before, perform_substitutions(context, self.__namespace))
        context.launch_configurations["ros_namespace"] = namespace
        return None
