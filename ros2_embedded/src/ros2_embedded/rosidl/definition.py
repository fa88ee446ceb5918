"""Data model of an interface definition, as parsed from a `.msg` text or taken from a type store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# CDR size in bytes, struct format and `array` type code of each numeric type; `char` is uint8 in ROS 2.
NUMERIC: dict[str, tuple[int, str]] = {
    "int8": (1, "b"),
    "uint8": (1, "B"),
    "int16": (2, "h"),
    "uint16": (2, "H"),
    "int32": (4, "i"),
    "uint32": (4, "I"),
    "int64": (8, "q"),
    "uint64": (8, "Q"),
    "float32": (4, "f"),
    "float64": (8, "d"),
}
PRIMITIVES = frozenset([*NUMERIC, "bool", "byte", "string", "wstring"])
# IDL names of types, as `get_fields_and_field_types()` returns them.
IDL_NAMES = {"float32": "float", "float64": "double", "bool": "boolean", "byte": "octet"}
# rosidl adds this field to an empty struct, and it is part of the CDR form and of the type hash.
PLACEHOLDER = "structure_needs_at_least_one_member"


@dataclass(frozen=True)
class FieldType:
    """The type of a field.

    Attributes:
        base: a name in PRIMITIVES, or a full name such as `std_msgs/msg/Header`.
        kind: `single`, `array` (fixed length) or `sequence`.
        size: the length of an array, the upper bound of a sequence (0: unbounded).
        string_bound: longest string in characters (0: unbounded).
    """

    base: str
    kind: str = "single"
    size: int = 0
    string_bound: int = 0

    @property
    def is_primitive(self) -> bool:
        """True for numbers, bool, byte and strings."""
        return self.base in PRIMITIVES

    def __str__(self) -> str:
        """Return the spelling that `get_fields_and_field_types()` uses, e.g. `sequence<double, 3>`."""
        name = IDL_NAMES.get(self.base, self.base)
        if not self.is_primitive:
            package, _, short = self.base.split("/")
            name = f"{package}/{short}"
        if self.string_bound:
            name = f"{self.base}<{self.string_bound}>"
        if self.kind == "array":
            return f"{name}[{self.size}]"
        if self.kind == "sequence":
            return f"sequence<{name}, {self.size}>" if self.size else f"sequence<{name}>"
        return name


@dataclass(frozen=True)
class Field:
    """A field: name, type, and the declared default (None: the zero value of the type)."""

    name: str
    type: FieldType
    default: Any = None


@dataclass(frozen=True)
class Constant:
    """A constant of a message: name, primitive type and value."""

    name: str
    type: str
    value: Any


@dataclass(frozen=True)
class Definition:
    """One message-like type, full name `package/kind/Name`."""

    name: str
    fields: tuple[Field, ...]
    constants: tuple[Constant, ...] = ()

    @property
    def package(self) -> str:
        """The ROS package of the type."""
        return self.name.split("/")[0]

    @property
    def kind(self) -> str:
        """`msg`, `srv` or `action`."""
        return self.name.split("/")[1]

    @property
    def short_name(self) -> str:
        """The class name."""
        return self.name.split("/")[2]


def make_definition(name: str, fields: list[Field], constants: list[Constant] | None = None) -> Definition:
    """Return a definition with the placeholder field rosidl adds to an empty struct."""
    if not fields:
        fields = [Field(PLACEHOLDER, FieldType("uint8"))]
    return Definition(name, tuple(fields), tuple(constants or ()))
