"""Messages of each type of `test_msgs` for tests: the defaults, and the ends of the range of each field."""

from __future__ import annotations

from typing import Any

import test_msgs.msg

_RANGES = {
    "int8": (-128, 127),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 255),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "float": (-2.125, 1.125),
    "double": (-2.125, 1.125),
    "boolean": (False, True),
    "octet": (b"\x00", b"\xff"),
    "char": (0, 255),
}
_LENGTHS = {True: 1, False: 3}  # of sequences without a bound, in messages of low and of high values


def get_test_msg(message_name: str) -> list[Any]:
    """Return the messages of a type: with defaults, with low values, and with high values, each once.

    Args:
        message_name: name without package, e.g. `BasicTypes`.

    Raises:
        NotImplementedError: no such message.
    """
    kind = getattr(test_msgs.msg, message_name, None)
    if kind is None:
        raise NotImplementedError(message_name)
    different: list[Any] = []
    for message in (kind(), filled(kind, True), filled(kind, False)):
        if message not in different:
            different.append(message)
    return different


def filled(kind: Any, low: bool) -> Any:
    """Return a message with the low or high ends of all ranges, except in fields that have defaults."""
    message = kind()
    for name, type_name in kind.get_fields_and_field_types().items():
        if not name.endswith("_check") and "default" not in name:
            setattr(message, name, _value(type_name, low))
    return message


def _value(type_name: str, low: bool) -> Any:
    """Return a value of a type as `get_fields_and_field_types` writes it, e.g. `sequence<string, 3>`."""
    if type_name.startswith("sequence<"):
        element, _, bound = type_name[len("sequence<") : -1].rpartition(", ")
        element, size = (element, int(bound)) if element and bound.isdigit() else (type_name[9:-1], None)
        return [_value(element, low) for _ in range(_LENGTHS[low] if size is None else size)]
    if type_name.endswith("]"):
        element, _, size_text = type_name[:-1].rpartition("[")
        return [_value(element, low) for _ in range(int(size_text))]
    if type_name in _RANGES:
        return _RANGES[type_name][0 if low else 1]
    if "string" in type_name:
        return "" if low else "Grüße, 世界!"
    package, _, name = type_name.partition("/")
    return filled(getattr(__import__(f"{package}.msg", fromlist=["msg"]), name), low)


def get_msg_arrays() -> list[Any]:
    """Return messages of `Arrays`."""
    return get_test_msg("Arrays")


def get_msg_basic_types() -> list[Any]:
    """Return messages of `BasicTypes`."""
    return get_test_msg("BasicTypes")


def get_msg_bounded_plain_sequences() -> list[Any]:
    """Return messages of `BoundedPlainSequences`."""
    return get_test_msg("BoundedPlainSequences")


def get_msg_bounded_sequences() -> list[Any]:
    """Return messages of `BoundedSequences`."""
    return get_test_msg("BoundedSequences")


def get_msg_builtins() -> list[Any]:
    """Return messages of `Builtins`."""
    return get_test_msg("Builtins")


def get_msg_constants() -> list[Any]:
    """Return messages of `Constants`."""
    return get_test_msg("Constants")


def get_msg_defaults() -> list[Any]:
    """Return messages of `Defaults`."""
    return get_test_msg("Defaults")


def get_msg_empty() -> list[Any]:
    """Return messages of `Empty`."""
    return get_test_msg("Empty")


def get_msg_multi_nested() -> list[Any]:
    """Return messages of `MultiNested`."""
    return get_test_msg("MultiNested")


def get_msg_nested() -> list[Any]:
    """Return messages of `Nested`."""
    return get_test_msg("Nested")


def get_msg_strings() -> list[Any]:
    """Return messages of `Strings`."""
    return get_test_msg("Strings")


def get_msg_unbounded_sequences() -> list[Any]:
    """Return messages of `UnboundedSequences`."""
    return get_test_msg("UnboundedSequences")


def get_msg_wstrings() -> list[Any]:
    """Return messages of `WStrings`."""
    return get_test_msg("WStrings")
