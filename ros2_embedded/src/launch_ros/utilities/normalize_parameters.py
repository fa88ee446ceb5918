"""The argument `parameters` in one form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from launch import Substitution
from launch.utilities import normalize_to_list_of_substitutions
from launch.utilities.type_utils import is_substitution

from ..parameter_descriptions import Parameter, ParameterFile, ParameterValue
from ..parameters_type import SomeParameters


def normalize_parameters(parameters: SomeParameters) -> list[Any]:
    """Return files as `ParameterFile`s, single parameters and dicts as they are.

    Raises:
        TypeError: the parameters are no list, or one of them is neither a file nor a dict.
    """
    if isinstance(parameters, (str, Mapping, Substitution)) or not isinstance(parameters, Iterable):
        raise TypeError(f"'parameters' is a list of files and dicts; write [{parameters!r}]")
    return [_normalized(item) for item in parameters]


def _normalized(item: Any) -> Any:
    if isinstance(item, Mapping):
        _check_names(item)
    return item if isinstance(item, (Parameter, ParameterFile, Mapping)) else ParameterFile(item)


def _check_names(values: Mapping[Any, Any]) -> None:
    """Raise TypeError for a name that is neither text nor substitutions, or a value that no parameter has."""
    for name, value in values.items():
        normalize_to_list_of_substitutions(name)
        if isinstance(value, Mapping):
            _check_names(value)
        elif not _may_be_value(value):
            raise TypeError(
                f"the parameter '{name}' cannot have the value {value!r}. Allowed value types are "
                "bytes, bool, int, float, str, substitutions, and arrays of one of them"
            )


def _may_be_value(value: Any) -> bool:
    """Return whether a value, or what comes of it later, can be that of a parameter; arrays do not nest."""
    if _is_scalar(value):
        return True
    return _is_sequence(value) and all(
        _is_scalar(item) or (_is_sequence(item) and is_substitution(item)) for item in value
    )


def _is_scalar(value: Any) -> bool:
    kinds = (bool, int, float, str, bytes, os.PathLike, Substitution, ParameterValue)
    return isinstance(value, kinds) or (hasattr(value, "item") and getattr(value, "ndim", 0) == 0)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, set, frozenset, Mapping))
