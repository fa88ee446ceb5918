"""Parameters with their substitutions performed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from launch import LaunchContext, Substitution
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..parameter_descriptions import Parameter, ParameterFile, ParameterValue, flattened

_SCALARS = (bool, int, float, str)


def evaluate_parameters(context: LaunchContext, parameters: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values of what `normalize_parameters` returned.

    Paths for files, pairs for single parameters, dicts with nested names joined by '.' for dicts; arrays are
    tuples. Unlike for nodes, text of substitutions has to be good YAML, of a type that parameters can have.

    Raises:
        TypeError: a value is of another type, or its items are of several ones.
    """
    return tuple(_evaluate(context, item) for item in parameters)


def _evaluate(context: LaunchContext, item: Any) -> Any:
    if isinstance(item, ParameterFile):
        path = item.param_file
        return path if isinstance(path, Path) else Path(perform_substitutions(context, path))
    if isinstance(item, Parameter):
        return item.evaluate(context)
    return dict(flattened(context, item, _value))


def _value(context: LaunchContext, value: Any) -> Any:
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, Substitution):
        return _read(perform_substitutions(context, [value]))
    if isinstance(value, (bytes, str)) or not isinstance(value, Iterable):
        return _scalar(value)
    items = list(value)
    has_substitution = any(isinstance(item, Substitution) for item in items)
    if has_substitution and all(isinstance(item, (str, Substitution)) for item in items):
        return _read(perform_substitutions(context, normalize_to_list_of_substitutions(items)))
    return _array([_value(context, item) for item in items])


def _read(text: str) -> Any:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise TypeError(f"Unable to parse the parameter value {text!r} as YAML: {error}") from error
    if value is None:
        return text
    if isinstance(value, list):
        if {type(item) for item in value} == {int, float}:
            raise TypeError(f"Expected a non-empty sequence, with items of one type: {text}")
        return _array(value)
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, (*_SCALARS, bytes)):
        return value
    raise TypeError(f"Allowed value types are bytes, bool, int, float, str, not {type(value).__name__}")


def _array(items: list[Any]) -> tuple[Any, ...]:
    kinds = {type(item) for item in items}
    if kinds == {int, float}:
        return tuple(float(item) for item in items)
    if len(kinds) != 1 or not kinds <= set(_SCALARS):
        raise TypeError(f"Expected a non-empty sequence, with items of one of the parameter types: {items!r}")
    return tuple(items)
