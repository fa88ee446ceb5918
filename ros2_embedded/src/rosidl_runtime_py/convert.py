"""Messages as dicts, YAML and CSV."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml

from rosidl_parser.definition import (
    AbstractNestableType,
    AbstractNestedType,
    AbstractWString,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

DEFAULT_TRUNCATE_LENGTH = 128
"""How many elements of an array, or characters of a text, the command line shows unless told otherwise."""


@dataclass(frozen=True)
class _Style:
    """How values are shown; see `message_to_ordereddict`. `octet` makes something of one byte."""

    truncate: int | None = None
    no_arr: bool = False
    no_str: bool = False
    octet: Callable[[bytes], Any] = ord


def message_to_ordereddict(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> OrderedDict[str, Any]:
    """Return a message as nested dicts of plain values, in the order of its fields.

    Args:
        msg: the message.
        truncate_length: the longest text or sequence to keep; '...' marks what is left out.
        no_arr: replace sequences by their type and length.
        no_str: replace texts by their type and length.
    """
    return _fields(msg, _Style(truncate_length, no_arr, no_str))


def message_to_yaml(
    msg: Any,
    *,
    truncate_length: int | None = None,
    no_arr: bool = False,
    no_str: bool = False,
    flow_style: bool = False,
) -> str:
    """Return a message as YAML that ends with a line break; arguments as in `message_to_ordereddict`."""
    plain = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return as_yaml(plain, flow_style=flow_style)


def as_yaml(plain: Mapping[str, Any], *, flow_style: bool = False) -> str:
    """Return what `message_to_ordereddict` gave as YAML that ends with a line break."""
    text: str = yaml.dump(
        plain, Dumper=_Dumper, default_flow_style=flow_style, allow_unicode=True, width=10**9, sort_keys=False
    )
    return text


def message_to_csv(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> str:
    """Return the values of a message, depth first, separated by commas; a byte is written as `b'2'`."""
    plain = _fields(msg, _Style(truncate_length, no_arr, no_str, octet=bytes))
    return ",".join(str(value) for value in _leaves(plain))


def get_message_slot_types(msg: Any) -> OrderedDict[str, Any]:
    """Return the types of a message's fields by name."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES, strict=True))


def _fields(msg: Any, style: _Style) -> OrderedDict[str, Any]:
    types = msg.get_fields_and_field_types()
    return OrderedDict(
        (name, _plain(getattr(msg, name), text, style, kind))
        for (name, text), kind in zip(types.items(), msg.SLOT_TYPES, strict=True)
    )


def _plain(value: Any, type_text: str, style: _Style, kind: Any = None) -> Any:
    if isinstance(value, str):
        if style.no_str:
            return f"<string length: <{len(value)}>>"
        limit = style.truncate
        return value[:limit] + "..." if limit is not None and len(value) > limit else value
    if isinstance(value, bytes) and len(value) == 1 and type_text == "octet":
        return style.octet(value)
    if isinstance(value, (list, tuple, array, np.ndarray, bytes, bytearray, memoryview)):
        return _plain_sequence(value, type_text, style, kind)
    if hasattr(value, "get_fields_and_field_types"):
        return _fields(value, style)
    return value.item() if isinstance(value, np.generic) else value


def _plain_sequence(values: Any, type_text: str, style: _Style, kind: Any) -> Any:
    if style.no_arr and isinstance(kind, AbstractNestedType):
        return _describe(kind, len(values))
    shortened = style.truncate is not None and len(values) > style.truncate
    kept = values[: style.truncate] if shortened else values
    listed = kept.tolist() if isinstance(kept, (array, np.ndarray, memoryview)) else list(kept)
    element = "octet" if "octet" in type_text else ""
    plain = [_plain(item, element, style) for item in listed]
    return [*plain, "..."] if shortened else plain


def _describe(kind: AbstractNestedType, length: int) -> str:
    """What stands for a sequence: its type, and its length where that may vary."""
    element = _element_name(kind.value_type)
    if isinstance(kind, Array):
        return f"<array type: {element}[{kind.size}]>"
    if isinstance(kind, BoundedSequence):
        return f"<bounded sequence type: {element}[{kind.maximum_size}], length: {length}>"
    return f"<sequence type: {element}, length: {length}>"


def _element_name(kind: AbstractNestableType) -> str:
    if isinstance(kind, BasicType):
        return kind.typename
    if isinstance(kind, NamespacedType):
        return "/".join(kind.namespaced_name())
    return "wstring" if isinstance(kind, AbstractWString) else "string"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


class _Dumper(yaml.SafeDumper):
    """YAML as ROS writes it: no aliases, mappings in the order of the fields."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


_Dumper.add_representer(
    OrderedDict, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items())
)
