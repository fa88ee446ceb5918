"""Parser of the ROS 2 `.msg`, `.srv` and `.action` text, with default values and bounds.

The grammar is the one of https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html.
"""

from __future__ import annotations

import ast
import keyword
import re
from pathlib import Path
from typing import Any

from ros2_embedded.rosidl.definition import (
    NUMERIC,
    PRIMITIVES,
    Constant,
    Definition,
    Field,
    FieldType,
    make_definition,
)
from ros2_embedded.rosidl.field_checks import check_value

_TYPE = re.compile(r"^(?P<base>[A-Za-z][\w/]*)(?:<=(?P<bound>\d+))?(?:\[(?P<array>(?:<=)?\d*)\])?$")
_FIELD = re.compile(r"^[a-z][a-z0-9_]*$", re.IGNORECASE)


class InterfaceSyntaxError(ValueError):
    """A definition cannot be parsed; the message names the file, the line and the reason."""


def read_definition(path: Path) -> str:
    """Return the text of a file.

    Raises:
        InterfaceSyntaxError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InterfaceSyntaxError(f"{path}:{line}: not in UTF-8; save the file in that encoding") from error
    except OSError as error:
        raise InterfaceSyntaxError(f"{path}: {error.strerror}") from error


def parse_type(text: str, package: str) -> FieldType:
    """Parse a type such as `float64[<=3]`, `string<=10`, `Header` or `std_msgs/Header`.

    Raises:
        ValueError: the text is not a type.
    """
    match = _TYPE.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a type")
    bound, array = match["bound"], match["array"]
    size = (array or "").removeprefix("<=")
    if bound == "0" * len(bound or "x") or size == "0" * len(size or "x") or array == "<=":
        raise ValueError(f"{text!r}: a size is a number above 0")
    base = {"char": "uint8", "octet": "byte"}.get(match["base"], match["base"])
    if base not in PRIMITIVES:
        parts = base.split("/")
        if len(parts) == 1:
            base = (
                "std_msgs/msg/Header"
                if base == "Header" and package != "std_msgs"
                else f"{package}/msg/{base}"
            )
        elif len(parts) == 2:
            base = f"{parts[0]}/msg/{parts[1]}"
    if bound and base not in ("string", "wstring"):
        raise ValueError(f"{text!r}: only strings have a bound")
    kind = "single" if array is None else "array" if size == array != "" else "sequence"
    return FieldType(base, kind, int(size or 0), int(bound or 0))


def _parse_scalar(base: str, text: str) -> Any:
    """Return the Python value of a literal of a primitive type."""
    if base in ("string", "wstring"):
        return ast.literal_eval(text) if text[:1] in "\"'" and len(text) > 1 else text
    if base == "bool":
        lowered = text.lower()
        if lowered not in ("true", "false", "1", "0"):
            raise ValueError(f"{text!r} is not a bool")
        return lowered in ("true", "1")
    if base == "byte":
        return bytes([int(text, 0)])
    if base in NUMERIC:
        return float(text) if base.startswith("float") else int(text, 0)
    raise ValueError(f"type {base} takes no literal")


def _parse_value(kind: FieldType, text: str) -> Any:
    """Return the Python value of a constant or a default: a scalar, or a list for arrays and sequences.

    Raises:
        ValueError, SyntaxError: the text does not fit the type.
    """
    value = _parse_scalar(kind.base, text) if kind.kind == "single" else _parse_list(kind.base, text)
    if reason := check_value(kind, value, _no_class):
        raise ValueError(f"the value {text} {reason}")
    return value


def _no_class(name: str) -> type:
    raise ValueError(f"type {name} takes no literal")


def _parse_list(base: str, text: str) -> list[Any]:
    """Return the Python values of a list of literals."""
    if base == "bool":
        text = re.sub(r"\b(true|false)\b", lambda match: match[0].capitalize(), text)
    values = ast.literal_eval(text)
    if not isinstance(values, list):
        raise ValueError(f"{text!r} is not a list")
    if base.startswith("float"):
        return [float(value) if isinstance(value, int) else value for value in values]
    if base == "bool":
        return [bool(value) if value in (0, 1) else value for value in values]
    return [bytes([value]) if base == "byte" else value for value in values]


def strip_comment(line: str) -> str:
    """Return the line without its comment; a `#` inside quotes stays."""
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#":
            return line[:index]
    return line


def _parse_line(line: str, package: str) -> Field | Constant:
    """Return the field or constant of a line without comment and outer blanks."""
    type_text, _, rest = line.partition(" ")
    rest = rest.strip()
    kind = parse_type(type_text, package)
    constant = re.match(r"^([A-Z][A-Z0-9_]*)\s*=\s*(.*)$", rest)
    if constant and kind.kind == "single":
        return Constant(constant[1], kind.base, _parse_value(kind, constant[2].strip()))
    name, _, default = rest.partition(" ")
    if not _FIELD.match(name):
        raise ValueError(f"{name!r} is not a field name")
    if keyword.iskeyword(name) or name == "check_fields":
        raise ValueError(f"{name!r} has a meaning in Python, and cannot name a field of a message class")
    return Field(name, kind, _parse_value(kind, default.strip()) if default.strip() else None)


def parse_message(text: str, name: str, where: str = "") -> Definition:
    """Parse one message section.

    Args:
        text: the definition.
        name: full name `package/kind/Name`.
        where: file name for error messages.

    Raises:
        InterfaceSyntaxError: a line cannot be parsed.
    """
    package = name.split("/")[0]
    fields: list[Field] = []
    constants: list[Constant] = []
    names: set[str] = set()
    for number, raw in enumerate(text.replace("\t", " ").splitlines(), 1):
        # A string constant keeps an unquoted '#'; an apostrophe in a comment does not begin a quoted text.
        line = raw.split("#", 1)[0].strip() if raw.lstrip().startswith("#") else strip_comment(raw).strip()
        if not line:
            continue
        try:
            entry = _parse_line(re.sub(r"\s+", " ", line, count=1), package)
            if entry.name in names:
                raise ValueError(f"there are two entries {entry.name!r}")
            names.add(entry.name)
        except (ValueError, SyntaxError) as error:
            raise InterfaceSyntaxError(f"{where or name}:{number}: {line!r}: {error}") from error
        if isinstance(entry, Field):
            fields.append(entry)
        else:
            constants.append(entry)
    return make_definition(name, fields, constants)


def split_sections(text: str, count: int, where: str) -> list[str]:
    """Split a `.srv` (2) or `.action` (3) text at its `---` lines."""
    sections = re.split(r"(?m)^---[ \t]*(?:#.*)?$", text)
    if len(sections) != count:
        raise InterfaceSyntaxError(
            f"{where}: {count} sections divided by '---' expected, {len(sections)} found"
        )
    return sections
