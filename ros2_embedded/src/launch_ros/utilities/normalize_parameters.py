"""The argument `parameters` in one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from launch import Substitution
from launch.utilities import normalize_to_list_of_substitutions

from ..parameter_descriptions import Parameter, ParameterFile
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
        elif value is None or isinstance(value, (set, frozenset)):
            raise TypeError(f"the parameter '{name}' cannot have the value {value!r}")
