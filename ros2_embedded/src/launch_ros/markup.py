"""What elements about nodes have in common."""

from __future__ import annotations

from typing import Any

from launch.frontend import Entity, Parser
from launch.frontend.command_line import parse_command_line
from launch.frontend.pairs import parse_pairs
from launch.substitutions import TextSubstitution

from .parameter_descriptions import ParameterFile, ParameterValue

_LISTS = {"bool": list[bool], "int": list[int], "float": list[float], "str": list[str]}
_TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    **{f"list[{name}]": kind for name, kind in _LISTS.items()},
    **{f"list_of_{name}": kind for name, kind in _LISTS.items()},
}


def parse_node_attributes(entity: Entity, parser: Parser) -> dict[str, Any]:
    """Return the keywords of `launch_ros.actions.Node` that an element holds."""
    keywords: dict[str, Any] = {}
    for attribute, keyword in (
        ("pkg", "package"),
        ("exec_name", "exec_name"),
        ("name", "name"),
        ("namespace", "namespace"),
    ):
        text = entity.get_attr(attribute, optional=True)
        if text is not None:
            keywords[keyword] = parser.parse_substitution(text)
    keywords["executable"] = parser.parse_substitution(entity.get_attr("exec"))
    for attribute, keyword in (("args", "arguments"), ("ros_args", "ros_arguments")):
        text = entity.get_attr(attribute, optional=True)
        if text is not None:
            keywords[keyword] = parse_command_line(text, parser)
    keywords["parameters"] = parse_parameters(entity, parser)
    keywords["remappings"] = parse_remappings(entity, parser)
    return keywords


def parse_remappings(entity: Entity, parser: Parser) -> list[tuple[Any, Any]]:
    """Return the pairs of the elements `remap`."""
    return parse_pairs(
        entity.get_attr("remap", data_type=list[Entity], optional=True), parser, ("from", "to")
    )


def parse_parameters(entity: Entity, parser: Parser) -> list[Any]:
    """Return the parameters in the elements `param`: files, and dicts that nest as the elements do."""
    return [
        _parse_parameter(element, parser)
        for element in entity.get_attr("param", data_type=list[Entity], optional=True) or ()
    ]


def parse_extra_arguments(entity: Entity, parser: Parser) -> list[dict[Any, Any]]:
    """Return a dict for each element `extra_arg`, whose value is read as YAML."""
    elements = entity.get_attr("extra_arg", data_type=list[Entity], optional=True)
    pairs = parse_pairs(elements, parser)
    return [{tuple(name): value} for name, value in pairs]


def _parse_parameter(entity: Entity, parser: Parser) -> Any:
    file = entity.get_attr("from", optional=True)
    if file is not None:
        allowed = entity.get_attr("allow_substs", data_type=bool, optional=True)
        parameter: Any = ParameterFile(
            parser.parse_substitution(file),
            allow_substs=False if allowed is None else parser.parse_if_substitutions(allowed),
        )
    else:
        parameter = dict([_parse_value(entity, parser)])
    entity.assert_entity_completely_parsed()
    return parameter


def _parse_value(entity: Entity, parser: Parser) -> tuple[Any, Any]:
    """Return the name of a parameter and its value, or the parameters nested in it as a dict."""
    name = tuple(parser.parse_substitution(entity.get_attr("name")))
    nested = entity.get_attr("param", data_type=list[Entity], optional=True)
    type_name = entity.get_attr("type", optional=True)
    if type_name is not None and type_name not in _TYPES:
        raise ValueError(f"type '{type_name}' of a parameter is unknown; use one of {', '.join(_TYPES)}")
    kind = None if type_name is None else _TYPES[type_name]
    value = entity.get_attr("value", data_type=kind, optional=True)
    if (nested is None) == (value is None):
        raise RuntimeError(
            f"'{entity.type_name}' needs either 'value', or nested elements 'param', or 'from'"
        )
    if nested is not None:
        pairs = [_parse_value(element, parser) for element in nested]
        for element in nested:
            element.assert_entity_completely_parsed()
        return name, dict(pairs)
    read = parser.parse_if_substitutions(value)
    if kind not in (None, str) and isinstance(read, str):
        read = TextSubstitution(text=read)  # text that is read as a value of the type
    return name, ParameterValue(read, value_type=kind)
