"""Parsing of `.msg`, `.srv` and `.action` texts into specifications that keep comments and defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .types import (
    ARRAY_UPPER_BOUND_TOKEN,
    PACKAGE_NAME_MESSAGE_TYPE_SEPARATOR,
    PRIMITIVE_TYPES,
    STRING_UPPER_BOUND_TOKEN,
    VALID_CONSTANT_NAME_PATTERN,
    VALID_FIELD_NAME_PATTERN,
    VALID_MESSAGE_NAME_PATTERN,
    VALID_PACKAGE_NAME_PATTERN,
    BaseType,
    InvalidActionSpecification,
    InvalidFieldDefinition,
    InvalidResourceName,
    InvalidServiceSpecification,
    InvalidSpecification,
    Type,
    UnknownMessageType,
    is_valid_constant_name,
    is_valid_field_name,
    is_valid_message_name,
    is_valid_package_name,
)
from .values import InvalidValue, parse_primitive_value_string, parse_value_string

__all__ = [
    "ACTION_FEEDBACK_MESSAGE_SUFFIX",
    "ACTION_FEEDBACK_SUFFIX",
    "ACTION_GOAL_SERVICE_SUFFIX",
    "ACTION_GOAL_SUFFIX",
    "ACTION_REQUEST_RESPONSE_SEPARATOR",
    "ACTION_RESULT_SERVICE_SUFFIX",
    "ACTION_RESULT_SUFFIX",
    "ARRAY_UPPER_BOUND_TOKEN",
    "COMMENT_DELIMITER",
    "CONSTANT_SEPARATOR",
    "PACKAGE_NAME_MESSAGE_TYPE_SEPARATOR",
    "PRIMITIVE_TYPES",
    "SERVICE_EVENT_MESSAGE_SUFFIX",
    "SERVICE_REQUEST_MESSAGE_SUFFIX",
    "SERVICE_REQUEST_RESPONSE_SEPARATOR",
    "SERVICE_RESPONSE_MESSAGE_SUFFIX",
    "STRING_UPPER_BOUND_TOKEN",
    "VALID_CONSTANT_NAME_PATTERN",
    "VALID_FIELD_NAME_PATTERN",
    "VALID_MESSAGE_NAME_PATTERN",
    "VALID_PACKAGE_NAME_PATTERN",
    "ActionSpecification",
    "BaseType",
    "Constant",
    "Field",
    "InvalidActionSpecification",
    "InvalidFieldDefinition",
    "InvalidResourceName",
    "InvalidServiceSpecification",
    "InvalidSpecification",
    "InvalidValue",
    "MessageSpecification",
    "ServiceSpecification",
    "Type",
    "UnknownMessageType",
    "is_valid_constant_name",
    "is_valid_field_name",
    "is_valid_message_name",
    "is_valid_package_name",
    "parse_action_file",
    "parse_action_string",
    "parse_message_file",
    "parse_message_string",
    "parse_primitive_value_string",
    "parse_service_file",
    "parse_service_string",
    "parse_value_string",
    "validate_field_types",
]

COMMENT_DELIMITER = "#"
CONSTANT_SEPARATOR = "="
SERVICE_REQUEST_RESPONSE_SEPARATOR = ACTION_REQUEST_RESPONSE_SEPARATOR = "---"
SERVICE_REQUEST_MESSAGE_SUFFIX = "_Request"
SERVICE_RESPONSE_MESSAGE_SUFFIX = "_Response"
SERVICE_EVENT_MESSAGE_SUFFIX = "_Event"
ACTION_GOAL_SUFFIX = ACTION_GOAL_SERVICE_SUFFIX = "_Goal"
ACTION_RESULT_SUFFIX = ACTION_RESULT_SERVICE_SUFFIX = "_Result"
ACTION_FEEDBACK_SUFFIX = ACTION_FEEDBACK_MESSAGE_SUFFIX = "_Feedback"
_UNIT = re.compile(r"\[([^\]]+)\]")


class _Declaration:
    """What fields and constants share: `annotations` with the comments, and a unit in brackets."""

    def __init__(self) -> None:
        self.annotations: dict[str, Any] = {"comment": []}

    def _settle_unit(self) -> None:
        """Move the unit out of the comments, when they name exactly one."""
        comments = self.annotations["comment"]
        units = [unit for line in comments for unit in _UNIT.findall(line)]
        if len(units) == 1:
            self.annotations["unit"] = units[0].strip()
            without = [_UNIT.sub("", line).strip() for line in comments]
            self.annotations["comment"] = [line for line in without if line]


class Constant(_Declaration):
    """A constant: `type` (text), `name`, `value`."""

    def __init__(self, primitive_type: str, name: str, value_string: str) -> None:
        """Parse the value; raises TypeError, NameError or InvalidValue."""
        super().__init__()
        if primitive_type not in PRIMITIVE_TYPES:
            raise TypeError(f"the constant type '{primitive_type}' must be a primitive type")
        if not is_valid_constant_name(name):
            raise NameError(
                f"'{name}' is an invalid constant name. It should have the pattern "
                f"'{VALID_CONSTANT_NAME_PATTERN.pattern}'"
            )
        self.type, self.name = primitive_type, name
        self.value = parse_primitive_value_string(BaseType(primitive_type), value_string)

    def __eq__(self, other: object) -> bool:
        """Same type, name and value."""
        return isinstance(other, Constant) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """As a `.msg` file spells it."""
        value = f"'{self.value}'" if self.type in ("string", "wstring") else self.value
        return f"{self.type} {self.name}={value}"


class Field(_Declaration):
    """A field: `type` (a `Type`), `name`, `default_value` (None without one)."""

    def __init__(self, type_: Type, name: str, default_value_string: str | None = None) -> None:
        """Parse the default; raises TypeError, NameError or InvalidValue."""
        super().__init__()
        if not isinstance(type_, Type):
            raise TypeError(f"the field type '{type_}' must be a 'Type' instance")
        if not is_valid_field_name(name):
            raise NameError(
                f"'{name}' is an invalid field name. It should have the pattern "
                f"'{VALID_FIELD_NAME_PATTERN.pattern}'"
            )
        self.type, self.name = type_, name
        self.default_value = None
        if default_value_string is not None:
            self.default_value = parse_value_string(type_, default_value_string)

    def __eq__(self, other: object) -> bool:
        """Same type, name and default."""
        return isinstance(other, Field) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """As a `.msg` file spells it."""
        if self.default_value is None:
            return f"{self.type} {self.name}"
        text = isinstance(self.default_value, str)
        return f"{self.type} {self.name} " + (f"'{self.default_value}'" if text else str(self.default_value))


class MessageSpecification:
    """A message: `base_type`, `msg_name`, `fields`, `constants` and `annotations` with the comments at its
    head.
    """

    def __init__(
        self, pkg_name: str, msg_name: str, fields: Iterable[Field], constants: Iterable[Constant]
    ) -> None:
        """Raise ValueError when two fields, or two constants, share a name."""
        self.base_type = BaseType(f"{pkg_name}/{msg_name}")
        self.msg_name = msg_name
        self.annotations: dict[str, Any] = {"comment": []}
        self.fields, self.constants = list(fields), list(constants)
        for what, names in (
            ("fields", [field.name for field in self.fields]),
            ("constants", [constant.name for constant in self.constants]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"the {what} iterable contains duplicate names: {', '.join(twice)}")

    def __eq__(self, other: object) -> bool:
        """Same type, fields and constants."""
        return (
            isinstance(other, MessageSpecification)
            and (self.base_type, self.fields, self.constants)
            == (other.base_type, other.fields, other.constants)
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """As a `.msg` file spells it, without comments but for its name."""
        return "\n".join([f"# {self.base_type}", *map(str, self.fields), *map(str, self.constants)])


class ServiceSpecification:
    """A service: `pkg_name`, `srv_name`, `request`, `response`."""

    def __init__(
        self, pkg_name: str, srv_name: str, request: MessageSpecification, response: MessageSpecification
    ) -> None:
        """Keep the parts."""
        self.pkg_name, self.srv_name = pkg_name, srv_name
        self.request, self.response = request, response

    def __str__(self) -> str:
        """As a `.srv` file spells it."""
        return f"# {self.pkg_name}/{self.srv_name}\n{self.request}\n---\n{self.response}"


class ActionSpecification:
    """An action: `pkg_name`, `action_name`, `goal`, `result`, `feedback`."""

    def __init__(
        self,
        pkg_name: str,
        action_name: str,
        goal: MessageSpecification,
        result: MessageSpecification,
        feedback: MessageSpecification,
    ) -> None:
        """Keep the parts."""
        self.pkg_name, self.action_name = pkg_name, action_name
        self.goal, self.result, self.feedback = goal, result, feedback


def _split_comment(line: str) -> tuple[str, str | None]:
    """The declaration and the comment of a line; a `#` inside a quoted default is part of it."""
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == COMMENT_DELIMITER:
            return line[:index].rstrip(), line[index + 1 :].lstrip()
    return line.rstrip(), None


def _parse_declaration(pkg_name: str, text: str) -> Field | Constant:
    type_text, _, rest = text.partition(" ")
    rest = rest.lstrip()
    if not rest:
        raise InvalidFieldDefinition(text)
    before, separator, after = rest.partition(CONSTANT_SEPARATOR)
    if separator and before.rstrip().isupper() and " " not in before.rstrip():
        return Constant(type_text, before.rstrip(), after.lstrip())
    name, _, default = rest.partition(" ")
    return Field(Type(type_text, pkg_name), name, default.strip() or None)


def parse_message_string(pkg_name: str, msg_name: str, message_string: str) -> MessageSpecification:
    """Parse the text of a message.

    Comments at the very start belong to the message; later ones to the declaration that follows them, as do
    those
    of its own line and of the indented lines after it.

    Raises:
        InvalidFieldDefinition, InvalidResourceName, InvalidValue, NameError, TypeError: for a wrong line.
    """
    lines = message_string.replace("\t", " ").splitlines()
    head: list[str] = []
    while lines and lines[0].startswith(COMMENT_DELIMITER):
        head.append(lines.pop(0)[1:].strip())
    pending: list[str] = []
    fields: list[Field] = []
    constants: list[Constant] = []
    last: Field | Constant | None = None
    for line in lines:
        indented = line[:1] == " "
        text, comment = _split_comment(line.strip())
        if not text:
            if comment is not None:
                (last.annotations["comment"] if indented and last else pending).append(comment)
            continue
        last = _parse_declaration(pkg_name, re.sub(r"\s+", " ", text, count=1))
        last.annotations["comment"] += [*pending, *([comment] if comment else [])]
        pending = []
        if isinstance(last, Constant):
            constants.append(last)
        else:
            fields.append(last)
    for declared in [*fields, *constants]:
        declared._settle_unit()
    specification = MessageSpecification(pkg_name, msg_name, fields, constants)
    specification.annotations["comment"] = head
    return specification


def parse_message_file(pkg_name: str, interface_filename: str) -> MessageSpecification:
    """Parse a `.msg` file; raises as `parse_message_string` does."""
    path = Path(interface_filename)
    return parse_message_string(pkg_name, path.stem, path.read_text("utf-8"))


def parse_service_string(pkg_name: str, srv_name: str, message_string: str) -> ServiceSpecification:
    """Parse the text of a service.

    Raises:
        InvalidServiceSpecification: when not exactly one line `---` divides it; else as
            `parse_message_string`.
    """
    parts = _sections(message_string)
    if len(parts) != 2:
        found = "Could not find separator" if len(parts) < 2 else "There is more than one separator"
        raise InvalidServiceSpecification(f"{found} '---' between request and response")
    request = parse_message_string(pkg_name, srv_name + SERVICE_REQUEST_MESSAGE_SUFFIX, parts[0])
    response = parse_message_string(pkg_name, srv_name + SERVICE_RESPONSE_MESSAGE_SUFFIX, parts[1])
    return ServiceSpecification(pkg_name, srv_name, request, response)


def parse_service_file(pkg_name: str, interface_filename: str) -> ServiceSpecification:
    """Parse a `.srv` file; raises as `parse_service_string` does."""
    path = Path(interface_filename)
    return parse_service_string(pkg_name, path.stem, path.read_text("utf-8"))


def parse_action_string(pkg_name: str, action_name: str, action_string: str) -> ActionSpecification:
    """Parse the text of an action.

    Raises:
        InvalidActionSpecification: when not exactly two lines `---` divide it; else as
            `parse_message_string`.
    """
    parts = _sections(action_string)
    if len(parts) != 3:
        raise InvalidActionSpecification("Number of '---' separators nonconformant with action definition")
    suffixes = (ACTION_GOAL_SUFFIX, ACTION_RESULT_SUFFIX, ACTION_FEEDBACK_SUFFIX)
    goal, result, feedback = (
        parse_message_string(pkg_name, action_name + suffix, part)
        for suffix, part in zip(suffixes, parts, strict=True)
    )
    return ActionSpecification(pkg_name, action_name, goal, result, feedback)


def parse_action_file(pkg_name: str, interface_filename: str) -> ActionSpecification:
    """Parse an `.action` file; raises as `parse_action_string` does."""
    path = Path(interface_filename)
    return parse_action_string(pkg_name, path.stem, path.read_text("utf-8"))


def validate_field_types(
    spec: MessageSpecification | ServiceSpecification, known_msg_types: Iterable[BaseType]
) -> None:
    """Check that all message types of an interface are known.

    Raises:
        UnknownMessageType: for the first that is not.
    """
    known = {str(item) for item in known_msg_types}
    messages = [spec] if isinstance(spec, MessageSpecification) else [spec.request, spec.response]
    for message in messages:
        for field in message.fields:
            element = BaseType.__str__(field.type)
            if not field.type.is_primitive_type() and element not in known:
                raise UnknownMessageType(
                    f"Message interface '{message.base_type}' contains an unknown field type: {field}"
                )


def _sections(text: str) -> list[str]:
    return re.split(r"(?m)^---[ \t]*(?:#.*)?$\n?", text)
