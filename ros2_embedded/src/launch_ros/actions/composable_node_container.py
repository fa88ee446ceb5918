"""A process for several nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from launch import LaunchContext, LaunchDescriptionEntity, SomeSubstitutionsType
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.frontend import Entity, Parser, expose_action

from ..descriptions import ComposableNode
from .load_composable_nodes import LoadComposableNodes, parse_composable_nodes
from .node import Node


@expose_action("node_container")
class ComposableNodeContainer(Node):
    """Runs a container and loads nodes into it.

    Args:
        name: the container's name.
        namespace: its namespace, '' for the launch's own.
        composable_node_descriptions: what to load as soon as it runs.
        **kwargs: see `Node`.
    """

    def __init__(
        self,
        *,
        name: SomeSubstitutionsType,
        namespace: SomeSubstitutionsType,
        composable_node_descriptions: Iterable[ComposableNode] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
        self.__composable_node_descriptions = list(composable_node_descriptions or ())

    @classmethod
    def parse(cls, entity: Entity, parser: Parser, ignore: Iterable[str] = ()) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = super().parse(entity, parser, ignore)
        kwargs.setdefault("namespace", "")
        if "name" not in kwargs:
            raise AttributeError(f"'{entity.type_name}' needs the attribute 'name'")
        kwargs["composable_node_descriptions"] = parse_composable_nodes(entity, parser, optional=True)
        return cls, kwargs

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        """Start the container; the nodes follow when it runs."""
        entities = list(super().execute(context) or ())
        if self.__composable_node_descriptions:
            load = LoadComposableNodes(
                composable_node_descriptions=self.__composable_node_descriptions, target_container=self
            )
            # Worked out now, as groups may end before the process has started.
            load.prepare(context)
            entities.append(RegisterEventHandler(OnProcessStart(target_action=self, on_start=[load])))
        return entities
