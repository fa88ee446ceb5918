"""Messages as dicts, YAML and CSV."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import yaml

DEFAULT_TRUNCATE_LENGTH = 128
"""How many elements of an array, or characters of a text, the command line shows unless told otherwise."""


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
    found: OrderedDict[str, Any] = OrderedDict()
    for name, type_text in msg.get_fields_and_field_types().items():
        found[name] = _plain(getattr(msg, name), type_text, truncate_length, no_arr, no_str)
    return found


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
    text: str = yaml.dump(
        plain, Dumper=_Dumper, default_flow_style=flow_style, allow_unicode=True, width=10**9, sort_keys=False
    )
    return text


def message_to_csv(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> str:
    """Return the values of a message, depth first, separated by commas."""
    plain = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return ",".join(str(value) for value in _leaves(plain))


def get_message_slot_types(msg: Any) -> OrderedDict[str, Any]:
    """Return the types of a message's fields by name."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES, strict=True))


def _plain(value: Any, type_text: str, truncate: int | None, no_arr: bool, no_str: bool) -> Any:
    if isinstance(value, str):
        if no_str:
            return f"<string length: <{len(value)}>>"
        return value[:truncate] + "..." if truncate is not None and len(value) > truncate else value
    if isinstance(value, bytes) and len(value) == 1 and type_text == "octet":
        return value[0]
    if isinstance(value, (list, tuple, array, np.ndarray, bytes, bytearray, memoryview)):
        return _plain_sequence(value, type_text, truncate, no_arr, no_str)
    if hasattr(value, "get_fields_and_field_types"):
        return message_to_ordereddict(value, truncate_length=truncate, no_arr=no_arr, no_str=no_str)
    return value.item() if isinstance(value, np.generic) else value


def _plain_sequence(values: Any, type_text: str, truncate: int | None, no_arr: bool, no_str: bool) -> Any:
    if no_arr:
        return f"<{type_text.partition('<')[0] or type_text}: {type_text}, length: {len(values)}>"
    shortened = truncate is not None and len(values) > truncate
    kept = values[:truncate] if shortened else values
    listed = kept.tolist() if isinstance(kept, (array, np.ndarray, memoryview)) else list(kept)
    plain = [
        _plain(item, "octet" if "octet" in type_text else "", truncate, no_arr, no_str) for item in listed
    ]
    return [*plain, "..."] if shortened else plain


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
