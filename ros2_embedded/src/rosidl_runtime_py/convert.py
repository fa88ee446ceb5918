"""Messages as dicts, YAML and CSV."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping
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
_SEQUENCES = (list, tuple, array, np.ndarray)


def message_to_ordereddict(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> OrderedDict[str, Any]:
    """Return a message as nested dicts of plain values, in the order of its fields.

    Args:
        msg: the message; a serialised one becomes a dict with the one key `bytes`.
        truncate_length: the longest text or sequence to keep; '...' marks what is left out.
        no_arr: replace sequences by their type and length.
        no_str: replace texts by their type and length.
    """
    if isinstance(msg, bytes):
        return OrderedDict(bytes=msg)
    return OrderedDict(
        (
            name,
            _convert_value(
                getattr(msg, name),
                field_type=kind,
                truncate_length=truncate_length,
                no_arr=no_arr,
                no_str=no_str,
            ),
        )
        for name, kind in get_message_slot_types(msg).items()
    )


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
    """Return the values of a message, depth first, separated by commas; a byte is written as `b'2'`.

    A serialised message is written as Python writes bytes.
    """
    if isinstance(msg, bytes):
        return str(msg)

    def text(value: Any, kind: Any = None) -> str:
        if no_arr and isinstance(kind, AbstractNestedType):
            return _describe(kind, len(value))
        if isinstance(value, _SEQUENCES) or isinstance(kind, AbstractNestedType):
            more = ["..."] if truncate_length is not None and len(value) > truncate_length else []
            return _joined([*(text(item) for item in value[:truncate_length]), *more])
        if no_str and isinstance(value, str):
            return f"<string length: <{len(value)}>>"
        if isinstance(value, (str, bytes)) and truncate_length is not None and len(value) > truncate_length:
            dots: Any = "..." if isinstance(value, str) else b"..."
            value = value[:truncate_length] + dots
        if hasattr(value, "get_fields_and_field_types"):
            return message_to_csv(value, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
        return str(value)

    return _joined(text(getattr(msg, name), kind) for name, kind in get_message_slot_types(msg).items())


def get_message_slot_types(msg: Any) -> OrderedDict[str, Any]:
    """Return the types of a message's fields by name."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES, strict=True))


def _joined(texts: Iterable[str]) -> str:
    """Join texts by commas; those before the first that is not empty leave no comma."""
    result = ""
    for text in texts:
        result += f",{text}" if result else text
    return result


def _convert_value(
    value: Any,
    *,
    field_type: Any = None,
    truncate_length: int | None = None,
    no_arr: bool = False,
    no_str: bool = False,
) -> Any:
    """Return a value of a field without messages, arrays and bytes: a byte becomes a character.

    Args:
        value: anything that a field can hold; tuples stay tuples, and dicts dicts.
        field_type: its type, as `SLOT_TYPES` has it; without it sequences are always written out.
        truncate_length: as in `message_to_ordereddict`, as are the others.
        no_arr: see there.
        no_str: see there.
    """

    def inner(item: Any) -> Any:
        return _convert_value(item, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)

    is_sequence = isinstance(field_type, AbstractNestedType)
    if is_sequence and no_arr:
        return _describe(field_type, len(value))
    if isinstance(value, _SEQUENCES) or is_sequence:
        more = ["..."] if truncate_length is not None and len(value) > truncate_length else []
        kept = value[:truncate_length]
        if isinstance(kept, (array, np.ndarray)):
            return kept.tolist() + more  # numbers need no look at each
        items = [*(inner(item) for item in kept), *more]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, str) and no_str:
        return f"<string length: <{len(value)}>>"
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        return (
            text[:truncate_length] + "..."
            if truncate_length is not None and len(text) > truncate_length
            else text
        )
    if isinstance(value, Mapping):
        return type(value)((_convert_value(key), inner(item)) for key, item in value.items())  # type: ignore[call-arg]
    if hasattr(value, "get_fields_and_field_types"):
        return message_to_ordereddict(value, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return value.item() if isinstance(value, np.generic) else value


def _describe(kind: AbstractNestedType, length: int) -> str:
    """What stands for a sequence: its type, and its length where that may vary."""
    element = _element_name(kind.value_type)
    if isinstance(kind, Array):
        return f"<array type: {element}[{kind.size}]>"
    if isinstance(kind, BoundedSequence):
        return f"<sequence type: {element}[{kind.maximum_size}], length: {length}>"
    return f"<sequence type: {element}, length: {length}>"


def _element_name(kind: AbstractNestableType) -> str:
    if isinstance(kind, BasicType):
        return kind.typename
    if isinstance(kind, NamespacedType):
        return "/".join(kind.namespaced_name())
    return "wstring" if isinstance(kind, AbstractWString) else "string"


class _Dumper(yaml.SafeDumper):
    """YAML as ROS writes it: no aliases, mappings in the order of the fields."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


_Dumper.add_representer(
    OrderedDict, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items())
)
