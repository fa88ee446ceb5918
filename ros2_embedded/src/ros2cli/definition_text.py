"""Interface definitions as text."""

from __future__ import annotations

from collections.abc import Iterator

from ros2_embedded.rosidl.definition import Definition
from ros2_embedded.rosidl.registry import get_definition, interfaces_of
from rosbag2_py.definitions import constant_line, field_line, real_fields

_PARTS = {"msg": ("",), "srv": ("_Request", "_Response"), "action": ("_Goal", "_Result", "_Feedback")}


def definition_text(package: str, kind: str, name: str) -> str:
    """Return an interface as its file would spell it, with the fields of nested messages indented below them.

    Raises `InterfaceNotFoundError` when there is no such interface.
    """
    interfaces_of(package)
    parts = []
    for suffix in _PARTS[kind]:
        definition = get_definition(f"{package}/{kind}/{name}{suffix}")
        parts.append("".join(f"{line}\n" for line in _lines(definition, 0)))
    return "---\n".join(parts)


def _lines(definition: Definition, depth: int) -> Iterator[str]:
    indent = "\t" * depth
    for constant in definition.constants:
        yield indent + constant_line(constant)
    for field in real_fields(definition):
        yield indent + field_line(field)
        if not field.type.is_primitive:
            yield from _lines(get_definition(field.type.base), depth + 1)
