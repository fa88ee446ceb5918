"""Message definitions as text, as they are kept in bags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ros2_embedded.rosidl.definition import PLACEHOLDER, Constant, Definition, Field, FieldType
from ros2_embedded.rosidl.registry import get_definition

_SEPARATOR = "=" * 80


@dataclass
class MessageDefinition:
    """The definition of a message type.

    Attributes:
        topic_type: such as `std_msgs/msg/String`.
        encoding: `ros2msg`, or `unknown` where no package provides the type.
        encoded_message_definition: the text, with those of the types in it.
        type_hash: `RIHS01_...`.
    """

    topic_type: str
    encoding: str = "ros2msg"
    encoded_message_definition: str = ""
    type_hash: str = ""


def message_definition(type_name: str, type_hash: str = "") -> MessageDefinition:
    """Return the definition of a type, with encoding `unknown` where no package provides it."""
    try:
        return MessageDefinition(type_name, "ros2msg", full_text(type_name), type_hash)
    except LookupError:
        return MessageDefinition(type_name, "unknown", "", type_hash)


class LocalMessageDefinitionSource:
    """Definitions of the types that this machine has."""

    def get_full_text(self, root_topic_type: str) -> MessageDefinition:
        """Return the definition of a type, with encoding `unknown` where no package provides it."""
        return message_definition(root_topic_type)

    def get_full_text_ext(self, root_topic_type: str, topic_name: str) -> MessageDefinition:
        """As `get_full_text`; the topic is only for messages about it."""
        return message_definition(root_topic_type)


def constant_line(constant: Constant) -> str:
    """Return a constant as a `.msg` file spells it."""
    return f"{constant.type} {constant.name}={_literal(constant.value)}"


def field_line(field: Field) -> str:
    """Return a field as a `.msg` file spells it, with its default value."""
    default = "" if field.default is None else f" {_literal(field.default)}"
    return f"{_spell(field.type)} {field.name}{default}"


def real_fields(definition: Definition) -> list[Field]:
    """Return the fields that a definition's file has."""
    return [field for field in definition.fields if field.name != PLACEHOLDER]


def full_text(type_name: str) -> str:
    """Return a message definition followed by those of all messages in it (schema encoding `ros2msg`).

    Args:
        type_name: such as `std_msgs/msg/Header`, or `std_msgs/Header` for a message.

    Raises:
        InterfaceNotFoundError: no package provides it.
    """
    if type_name.count("/") == 1:
        type_name = type_name.replace("/", "/msg/")
    names = list(dict.fromkeys(_walk(type_name)))
    parts = [_text(get_definition(type_name))]
    for name in names[1:]:
        package, _, short = name.split("/")
        parts.append(f"{_SEPARATOR}\nMSG: {package}/{short}\n{_text(get_definition(name))}")
    return "".join(parts)


def _walk(type_name: str) -> Iterator[str]:
    yield type_name
    for field in get_definition(type_name).fields:
        if not field.type.is_primitive:
            yield from _walk(field.type.base)


def _text(definition: Definition) -> str:
    lines = [constant_line(constant) for constant in definition.constants]
    lines += [field_line(field) for field in real_fields(definition)]
    return "".join(f"{line}\n" for line in lines)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return str(value)


def _spell(kind: FieldType) -> str:
    base = kind.base if kind.is_primitive else "{0}/{2}".format(*kind.base.split("/"))
    if kind.string_bound:
        base = f"{base}<={kind.string_bound}"
    if kind.kind == "array":
        return f"{base}[{kind.size}]"
    if kind.kind == "sequence":
        return f"{base}[<={kind.size}]" if kind.size else f"{base}[]"
    return base
