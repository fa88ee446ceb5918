"""Messages from dicts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

StampSetter = Callable[[Any], None]
"""Puts a `builtin_interfaces/msg/Time` into the field that asked for one."""


class NoMappingError(TypeError):
    """A message is given as something else than a mapping of its fields."""


def set_message_fields(
    msg: Any, values: Mapping[str, Any], expand_header_auto: bool = False, expand_time_now: bool = False
) -> list[StampSetter]:
    """Set fields of a message from (nested) plain values, such as YAML text yields, or from messages.

    Args:
        msg: the message; fields not named keep their values.
        values: values by field name.
        expand_header_auto: whether the word `auto` for a header asks for the time of publishing.
        expand_time_now: whether the word `now` for a time does.

    Returns:
        For each field that asked for it, what to call with the time.

    Raises:
        AttributeError: for a field the message has not, naming those it has.
        TypeError: where a mapping of fields is needed and something else stands.
        ValueError: for a value that does not fit its field.
    """
    if not isinstance(values, Mapping):
        raise NoMappingError(
            f"Value '{values}' is expected to be a dictionary but is a {type(values).__name__}"
        )
    types = msg.get_fields_and_field_types()
    stamps: list[StampSetter] = []
    for name, value in values.items():
        if name not in types:
            raise AttributeError(
                f"'{type(msg).__name__}' object has no attribute '{name}'; "
                f"{_name(msg)} has: {', '.join(types) or 'none'}"
            )
        current = getattr(msg, name)
        try:
            if expand_header_auto and types[name] == "std_msgs/Header" and value == "auto":
                stamps.append(partial(setattr, current, "stamp"))
            elif expand_time_now and types[name] == "builtin_interfaces/Time" and value == "now":
                stamps.append(partial(setattr, msg, name))
            elif hasattr(current, "get_fields_and_field_types") and type(value) is type(current):
                setattr(msg, name, value)
            elif hasattr(current, "get_fields_and_field_types"):
                stamps += set_message_fields(
                    current, {} if value is None else value, expand_header_auto, expand_time_now
                )
            else:
                setattr(msg, name, _convert(current, types[name], value))
        except NoMappingError:
            raise
        except (TypeError, ValueError, OverflowError, AssertionError) as error:
            raise ValueError(f"field '{name}' of {_name(msg)} ({types[name]}): {error}") from error
    return stamps


def _convert(current: Any, type_text: str, value: Any) -> Any:
    if hasattr(current, "get_fields_and_field_types"):
        if type(value) is type(current):
            return value
        set_message_fields(current, {} if value is None else value)
        return current
    if isinstance(current, (list, array, np.ndarray)) or (
        isinstance(current, bytes) and type_text != "octet"
    ):
        return _convert_sequence(current, type_text, value)
    if isinstance(current, bool):
        if not isinstance(value, (bool, int)):
            raise ValueError(f"{value!r} is no truth value")
        return bool(value)
    if isinstance(current, str):
        return value if isinstance(value, str) else str(value)
    if isinstance(current, bytes):
        if isinstance(value, str):
            return value.encode("latin-1")
        return bytes([value]) if isinstance(value, int) else value
    if isinstance(current, int) and isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value!r} is no whole number")
    return type(current)(value)


def _convert_sequence(current: Any, type_text: str, value: Any) -> Any:
    if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
        raise ValueError(f"{value!r} is no sequence")
    if isinstance(current, array):
        return array(current.typecode, value)
    if isinstance(current, np.ndarray):
        return np.asarray(value, dtype=current.dtype)
    if isinstance(current, bytes):
        return bytes(value)
    element = (
        type_text.partition("<")[2].rstrip(">").split(",")[0]
        if "<" in type_text
        else type_text.partition("[")[0]
    )
    return [
        _convert(make(), element, item)
        for make, item in zip(_makers(element, len(value)), value, strict=True)
    ]


def _makers(element: str, count: int) -> list[Any]:
    """Return factories of the default value of a sequence's element type."""
    if "/" in element:
        from .utilities import get_interface

        package, _, name = element.partition("/")
        maker: Any = get_interface(element if element.count("/") == 2 else f"{package}/msg/{name}")
    elif element.startswith(("string", "wstring")):
        maker = str
    elif element == "octet":
        maker = bytes
    else:
        maker = bool if element == "boolean" else float if element in ("float", "double") else int
    return [maker] * count


def _name(msg: Any) -> str:
    return f"{type(msg).__module__.split('.')[0]}/{type(msg).__name__}"
