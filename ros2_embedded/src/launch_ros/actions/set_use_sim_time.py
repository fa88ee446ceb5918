"""Simulated time for all nodes that follow in the scope."""

from __future__ import annotations

from typing import Any

from launch import Action
from launch.frontend import Entity, Parser, expose_action
from launch.utilities import normalize_to_list_of_substitutions
from launch.utilities.values import SomeBool

from ..parameter_descriptions import ParameterValue
from .set_parameter import SetParameter


@expose_action("set_use_sim_time")
class SetUseSimTime(SetParameter):
    """Sets `use_sim_time` of the nodes that follow, until the end of the enclosing group."""

    def __init__(self, value: SomeBool, **kwargs: Any) -> None:
        self.__value: Any = value if isinstance(value, bool) else normalize_to_list_of_substitutions(value)
        super().__init__("use_sim_time", ParameterValue(value, value_type=bool), **kwargs)

    @property
    def value(self) -> Any:
        """Whether to use simulated time, before substitution."""
        return self.__value

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[Any, dict[str, Any]]:
        """Return how to make the action of an element in markup."""
        _, kwargs = Action.parse(entity, parser)
        kwargs["value"] = parser.parse_if_substitutions(entity.get_attr("value", data_type=bool))
        return cls, kwargs
