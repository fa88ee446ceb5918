"""Arguments that are a plain value or a substitution that yields one."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution_failure import SubstitutionFailure
from .substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

SomeBool = bool | SomeSubstitutionsType
SomeFloat = float | int | SomeSubstitutionsType

_TRUE = {"true", "1"}
_FALSE = {"false", "0"}


def parse_bool(text: str, what: str = "value") -> bool:
    """Return the truth value that `text` spells; `true` and `1`, `false` and `0`, in any case.

    Raises SubstitutionFailure, naming `what`, for other text.
    """
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise SubstitutionFailure(f"{what} is {text!r}; expected 'true' or 'false'")


def perform_bool(context: LaunchContext, value: SomeBool, what: str = "value") -> bool:
    """Return a plain or substituted boolean argument as a bool."""
    if isinstance(value, bool):
        return value
    return parse_bool(perform_substitutions(context, normalize_to_list_of_substitutions(value)), what)


def perform_float(context: LaunchContext, value: SomeFloat, what: str = "value") -> float:
    """Return a plain or substituted number as a float; raise SubstitutionFailure when it is none."""
    if isinstance(value, (int, float)):
        return float(value)
    text = perform_substitutions(context, normalize_to_list_of_substitutions(value))
    try:
        return float(text)
    except ValueError:
        raise SubstitutionFailure(f"{what} is {text!r}; expected a number") from None


def parse_yaml_value(text: str) -> Any:
    """Return what `text` means read as YAML: a number, a bool, a list; text that is no YAML stays text."""
    import yaml  # here, because most launches get by without it

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def coerce_to_type(value: str | list[str], data_type: Any = None, *, can_be_str: bool = False) -> Any:
    """Return text as a value of `data_type`, by the rules of YAML.

    Args:
        value: the text, or the texts of a list's items.
        data_type: `str`, `int`, `float`, `bool`, `List[...]` of one of these; None to guess.
        can_be_str: whether text that does not fit is returned as it is.

    Raises:
        ValueError: the text does not fit.
    """
    element = typing.get_args(data_type)[0] if typing.get_origin(data_type) is list else None
    if isinstance(value, list):
        if data_type is not None and element is None and data_type is not list:
            raise ValueError(f"{value!r} is a list, expected {data_type.__name__}")
        return [coerce_to_type(item, element, can_be_str=can_be_str) for item in value]
    if data_type is str:
        return value
    parsed = parse_yaml_value(value)
    if data_type is None:
        quoted = isinstance(parsed, str) and value[:1] in ("'", '"')
        return parsed if quoted or isinstance(parsed, (bool, int, float, list)) else value
    if data_type is float and isinstance(parsed, int) and not isinstance(parsed, bool):
        return float(parsed)
    if check_type(parsed, data_type):
        return parsed
    if can_be_str:
        return value
    raise ValueError(f"{value!r} is no {getattr(data_type, '__name__', data_type)}")


def check_type(value: Any, data_type: Any) -> bool:
    """Return whether `value` is of a scalar type, `List[...]` of one, or None for any of these."""
    if typing.get_origin(data_type) is list:
        element = typing.get_args(data_type)[0]
        return isinstance(value, list) and all(check_type(item, element) for item in value)
    if data_type is None:
        return isinstance(value, (str, int, float, bool, list))
    if data_type is float:
        return isinstance(value, (float, int)) and not isinstance(value, bool)
    return isinstance(value, data_type) and (data_type is bool or not isinstance(value, bool))
