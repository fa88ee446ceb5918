"""Types of arguments: what a type is, whether a value has it, and text as a value of it by the rules of YAML.

The types are `int`, `float`, `bool`, `str` and `typing.List` of one of them; None stands for any of these.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, List  # noqa: UP035, launch files write List[int]

from ..substitution import Substitution
from .arguments import ensure_argument_type
from .substitutions import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

ScalarTypesTuple = (int, float, bool, str)
ListTypesTuple = (List[int], List[float], List[bool], List[str])  # noqa: UP006
AllowedTypesTuple = ScalarTypesTuple + ListTypesTuple


def is_typing_list(data_type: Any) -> bool:
    """True for `typing.List` and `typing.List[...]`."""
    return data_type is List or typing.get_origin(data_type) is list  # noqa: UP006


def is_valid_scalar_type(data_type: Any) -> bool:
    """True for `int`, `float`, `bool` and `str`."""
    return any(data_type is kind for kind in ScalarTypesTuple)


def extract_type(data_type: Any) -> tuple[Any, bool]:
    """The scalar type of a type, and whether it is a list of that.

    Raises:
        ValueError: none of the types of this module.
    """
    arguments = typing.get_args(data_type)
    is_list = is_typing_list(data_type) or typing.get_origin(data_type) is list
    scalar = arguments[0] if is_list and arguments else data_type
    if not is_valid_scalar_type(scalar):
        raise ValueError(f"Unrecognized data type: {data_type}")
    return scalar, is_list


def is_instance_of_valid_type(value: Any, can_be_str: bool = False) -> bool:
    """True for a value of one of the types; with `can_be_str` a list may hold text among other values."""
    if not isinstance(value, list):
        return isinstance(value, ScalarTypesTuple)
    kinds = {type(item) for item in value}
    if can_be_str:
        kinds.discard(str)
    return len(kinds) <= 1 and kinds <= set(ScalarTypesTuple)


def is_instance_of(value: Any, data_type: Any = None, can_be_str: bool = False) -> bool:
    """True for a value of a type, or for text when `can_be_str`.

    Raises:
        ValueError: no such type.
    """
    if data_type is None:
        return is_instance_of_valid_type(value, can_be_str)
    scalar, is_list = extract_type(data_type)
    kinds = (scalar, str) if can_be_str else (scalar,)
    if is_list:
        return isinstance(value, list) and all(isinstance(item, kinds) for item in value)
    return isinstance(value, kinds)


def coerce_to_type(value: str, data_type: Any = None, can_be_str: bool = False) -> Any:
    """Text as a value of a type.

    Args:
        value: the text.
        data_type: None takes what YAML makes of it.
        can_be_str: whether text that does not fit is returned as it is.

    Raises:
        ValueError: the text does not fit, or there is no such type.
        TypeError: no text.
    """
    ensure_argument_type(value, str, "value", "coerce_to_type")
    if data_type is None:
        return _as_yaml(value, None, can_be_str)
    scalar, is_list = extract_type(data_type)
    if scalar is str and not is_list:
        return value
    if is_list:
        found = _as_yaml(value, data_type, bool(can_be_str))
        if not isinstance(found, list) or not is_instance_of(found, data_type, can_be_str):
            raise ValueError(f"cannot convert {value!r} to {data_type}")
        return found
    try:
        if scalar is not bool:
            return scalar(value)
        return _as_bool(value)
    except ValueError:
        if can_be_str:
            return value
        raise


def _as_bool(value: str) -> bool:
    """What YAML takes for a truth value, and 1 and 0, as `launch` writes them."""
    found = _as_yaml(value, bool, False)
    if isinstance(found, bool):
        return found
    if value.strip() in ("0", "1"):
        return value.strip() == "1"
    raise ValueError(f"cannot convert {value!r} to bool")


def _as_yaml(value: str, data_type: Any, can_be_str: bool) -> Any:
    import yaml  # here, because most launches get by without it

    try:
        found = yaml.safe_load(value) if value else ""
    except yaml.YAMLError as error:
        if can_be_str:
            return value
        raise ValueError(f"cannot convert {value!r} by the rules of YAML: {error}") from error
    if not is_instance_of_valid_type(found, can_be_str):
        raise ValueError(f"{value!r} is a {type(found).__name__} in YAML, expected {data_type or 'a value'}")
    return found


def coerce_list(value: list[str], data_type: Any = None, can_be_str: bool = False) -> list[Any]:
    """A list of texts as values of a scalar type; see `coerce_to_type`.

    Raises:
        ValueError: a text does not fit, or the values are of different types.
        TypeError: no list of texts.
    """
    ensure_argument_type(value, list, "value", "coerce_list")
    found = [coerce_to_type(item, data_type, can_be_str) for item in value]
    if not is_instance_of_valid_type(found, can_be_str):
        raise ValueError(f"the values of {value!r} are of different types")
    return found


def get_typed_value(value: str | list[str], data_type: Any = None, can_be_str: bool = False) -> Any:
    """A text or a list of texts as a value of a type; see `coerce_to_type`.

    Raises:
        ValueError: it does not fit.
        TypeError: a list where no list is wanted, or neither text nor texts.
    """
    if not isinstance(value, list):
        return coerce_to_type(value, data_type, can_be_str)
    scalar, is_list = (None, True) if data_type is None else extract_type(data_type)
    if not is_list:
        raise TypeError(f"cannot convert the list {value!r} to {data_type}")
    return coerce_list(value, scalar, can_be_str)


def is_substitution(x: Any) -> bool:
    """True for a substitution, and for a sequence of texts and at least one substitution."""
    if isinstance(x, Substitution):
        return True
    if isinstance(x, str) or not isinstance(x, Iterable):
        return False
    items = list(x)
    return any(isinstance(item, Substitution) for item in items) and all(
        isinstance(item, (Substitution, str)) for item in items
    )


def is_normalized_substitution(x: Any) -> bool:
    """True for a list of substitutions."""
    return isinstance(x, list) and bool(x) and all(isinstance(item, Substitution) for item in x)


def normalize_typed_substitution(value: Any, data_type: Any) -> Any:
    """A value, a substitution, or a list of both, such that `perform_typed_substitution` can perform it.

    Raises:
        TypeError: it can never become a value of the type.
        ValueError: no such type.
    """
    if isinstance(value, ScalarTypesTuple):
        if not is_instance_of(value, data_type):
            raise TypeError(f"{value!r} is not of type {data_type}")
        return value
    if is_substitution(value):
        return normalize_to_list_of_substitutions(value)
    if not isinstance(value, Iterable):
        raise TypeError(f"expected a value, a substitution or a list of them, not {value!r}")
    if data_type is not None and not extract_type(data_type)[1]:
        raise TypeError(f"the list {value!r} is not of type {data_type}")
    items = [normalize_to_list_of_substitutions(item) if is_substitution(item) else item for item in value]
    plain = [item for item in items if not is_normalized_substitution(item)]
    if not is_instance_of(plain, data_type):
        raise TypeError(f"items of {value!r} are not of type {data_type}")
    return items


def perform_typed_substitution(context: LaunchContext, value: Any, data_type: Any) -> Any:
    """The value of what `normalize_typed_substitution` returned.

    Raises:
        ValueError: the text of a substitution does not fit the type.
        TypeError: no normalised value of the type.
    """
    if is_normalized_substitution(value):
        return coerce_to_type(perform_substitutions(context, value), data_type)
    if not isinstance(value, list):
        if not is_instance_of(value, data_type):
            raise TypeError(f"{value!r} is not of type {data_type}")
        return value
    scalar = None if data_type is None else extract_type(data_type)[0]
    performed = [
        coerce_to_type(perform_substitutions(context, item), scalar)
        if is_normalized_substitution(item)
        else item
        for item in value
    ]
    if not is_instance_of(performed, data_type):
        raise ValueError(f"{performed!r} is not of type {data_type}")
    return performed
