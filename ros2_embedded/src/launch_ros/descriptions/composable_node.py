"""A node to be loaded into a container."""

from __future__ import annotations

from typing import Any

from launch import Action, Condition, SomeSubstitutionsType, Substitution
from launch.frontend import Entity, Parser
from launch.utilities import normalize_to_list_of_substitutions

from ..markup import parse_extra_arguments, parse_parameters, parse_remappings
from ..parameters_type import SomeParameters, SomeRemapRules
from ..utilities.normalize_parameters import normalize_parameters
from ..utilities.normalize_remap_rules import normalize_remap_rules


class ComposableNode:
    """What to load and how.

    Args:
        package: the package that has the component.
        plugin: the component, such as `my_robot::Camera`.
        name: the node's name, its own by default.
        namespace: absolute, or relative to what `PushROSNamespace` set.
        parameters: files, `Parameter`s and dicts, the last one wins.
        remappings: pairs of names.
        extra_arguments: passed on to the container as parameters.
        condition: whether to load the node at all.
    """

    def __init__(
        self,
        *,
        package: SomeSubstitutionsType,
        plugin: SomeSubstitutionsType,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        parameters: SomeParameters | None = None,
        remappings: SomeRemapRules | None = None,
        extra_arguments: SomeParameters | None = None,
        condition: Condition | None = None,
    ) -> None:
        self.__package = normalize_to_list_of_substitutions(package)
        self.__node_plugin = normalize_to_list_of_substitutions(plugin)
        self.__node_name = None if name is None else normalize_to_list_of_substitutions(name)
        self.__node_namespace = None if namespace is None else normalize_to_list_of_substitutions(namespace)
        self.__parameters = normalize_parameters(() if parameters is None else parameters)
        self.__remappings = [(list(old), list(new)) for old, new in normalize_remap_rules(remappings or ())]
        self.__extra_arguments = normalize_parameters(extra_arguments or ())
        self.__condition = condition

    @classmethod
    def parse(cls, parser: Parser, entity: Entity) -> tuple[Any, dict[str, Any]]:
        """Return how to make the description of an element `composable_node`."""
        _, kwargs = Action.parse(entity, parser)
        for attribute, keyword in (("pkg", "package"), ("plugin", "plugin")):
            kwargs[keyword] = parser.parse_substitution(entity.get_attr(attribute))
        for attribute in ("name", "namespace"):
            text = entity.get_attr(attribute, optional=True)
            if text is not None:
                kwargs[attribute] = parser.parse_substitution(text)
        kwargs["parameters"] = parse_parameters(entity, parser)
        kwargs["remappings"] = parse_remappings(entity, parser)
        kwargs["extra_arguments"] = parse_extra_arguments(entity, parser)
        entity.assert_entity_completely_parsed()
        return cls, kwargs

    @property
    def package(self) -> list[Substitution]:
        """The package."""
        return self.__package

    @property
    def node_plugin(self) -> list[Substitution]:
        """The component."""
        return self.__node_plugin

    @property
    def node_name(self) -> list[Substitution] | None:
        """The node's name."""
        return self.__node_name

    @property
    def node_namespace(self) -> list[Substitution] | None:
        """The node's namespace."""
        return self.__node_namespace

    @property
    def parameters(self) -> list[Any]:
        """The parameters."""
        return self.__parameters

    @property
    def remappings(self) -> list[tuple[list[Substitution], list[Substitution]]]:
        """The remappings."""
        return self.__remappings

    @property
    def extra_arguments(self) -> list[Any]:
        """What the container gets besides."""
        return self.__extra_arguments

    def condition(self) -> Condition | None:
        """Return the condition."""
        return self.__condition
