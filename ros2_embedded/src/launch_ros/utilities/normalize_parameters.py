"""The argument `parameters` in one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from launch import Substitution

from ..parameter_descriptions import Parameter, ParameterFile
from ..parameters_type import SomeParameters


def normalize_parameters(parameters: SomeParameters) -> list[Any]:
    """Return files as `ParameterFile`s, single parameters and dicts as they are.

    Raises:
        TypeError: the parameters are no list, or one of them is neither a file nor a dict.
    """
    if isinstance(parameters, (str, Mapping, Substitution)) or not isinstance(parameters, Iterable):
        raise TypeError(f"'parameters' is a list of files and dicts; write [{parameters!r}]")
    return [
        item if isinstance(item, (Parameter, ParameterFile, Mapping)) else ParameterFile(item)
        for item in parameters
    ]
