"""Names and types as `.msg` files spell them."""

from __future__ import annotations

import re

PRIMITIVE_TYPES = [
    "bool",
    "byte",
    "char",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "string",
    "wstring",
    "duration",
    "time",
]
PACKAGE_NAME_MESSAGE_TYPE_SEPARATOR = "/"
ARRAY_UPPER_BOUND_TOKEN = STRING_UPPER_BOUND_TOKEN = "<="
VALID_PACKAGE_NAME_PATTERN = re.compile(r"^(?!.*__)(?!.*_$)[a-z][a-z0-9_]*$")
VALID_FIELD_NAME_PATTERN = VALID_PACKAGE_NAME_PATTERN
VALID_MESSAGE_NAME_PATTERN = re.compile(r"^[A-Z][A-Za-z0-9]*$")
VALID_CONSTANT_NAME_PATTERN = re.compile(r"^[A-Z]([A-Z0-9_]?[A-Z0-9]+)*$")
_DERIVED = re.compile(r"(_Request|_Response|_Event|_Goal|_Result|_Feedback)$")


class InvalidSpecification(Exception):
    """An interface file cannot be understood."""


class InvalidActionSpecification(InvalidSpecification):
    """An action file has not the three sections."""


class InvalidServiceSpecification(InvalidSpecification):
    """A service file has not the two sections."""


class InvalidResourceName(InvalidSpecification):
    """A package, an interface or a constant has a name that is not allowed."""


class InvalidFieldDefinition(InvalidSpecification):
    """A line is neither a field nor a constant."""


class UnknownMessageType(InvalidSpecification):
    """A field has a type that nobody defines."""


def is_valid_package_name(name: str) -> bool:
    """Whether the text may name a package."""
    return bool(VALID_PACKAGE_NAME_PATTERN.match(name))


def is_valid_field_name(name: str) -> bool:
    """Whether the text may name a field."""
    return bool(VALID_FIELD_NAME_PATTERN.match(name))


def is_valid_message_name(name: str) -> bool:
    """Whether the text may name a message, such as `Name`, `Sample_Name` or `Name_Request`."""
    return bool(VALID_MESSAGE_NAME_PATTERN.match(_DERIVED.sub("", name.removeprefix("Sample_"))))


def is_valid_constant_name(name: str) -> bool:
    """Whether the text may name a constant."""
    return bool(VALID_CONSTANT_NAME_PATTERN.match(name))


class BaseType:
    """The type of one element.

    Attributes:
        pkg_name: the package of a message type, None for a primitive.
        type: the primitive or the message.
        string_upper_bound: the most characters of a string, None without a bound.
    """

    def __init__(self, type_string: str, context_package_name: str | None = None) -> None:
        """Parse `float32`, `string<=5`, `pkg/Name`, or `Name` of the package of the context.

        Raises:
            TypeError: for a bound that is no positive integer.
            InvalidResourceName: for a name that is not allowed, or without a package.
        """
        self.pkg_name: str | None = None
        self.string_upper_bound: int | None = None
        self.type = type_string
        if type_string in PRIMITIVE_TYPES:
            return
        if type_string.startswith(("string<=", "wstring<=")):
            self.type, _, bound = type_string.partition(STRING_UPPER_BOUND_TOKEN)
            if not bound.isdigit() or int(bound) == 0:
                raise TypeError(
                    f"the upper bound of the string type '{type_string}' must be a valid integer value > 0"
                )
            self.string_upper_bound = int(bound)
            return
        package, _, name = type_string.rpartition(PACKAGE_NAME_MESSAGE_TYPE_SEPARATOR)
        self.pkg_name, self.type = package or context_package_name, name
        if not self.pkg_name or not is_valid_package_name(self.pkg_name):
            raise InvalidResourceName(
                f"'{self.pkg_name or ''}' is an invalid package name, in type '{type_string}'. It should "
                f"have the "
                f"pattern '{VALID_PACKAGE_NAME_PATTERN.pattern}'"
            )
        if not is_valid_message_name(name):
            raise InvalidResourceName(
                f"'{name}' is an invalid message name. It should have the pattern "
                f"'{VALID_MESSAGE_NAME_PATTERN.pattern}'"
            )

    def is_primitive_type(self) -> bool:
        """Whether it is no message."""
        return self.pkg_name is None

    def __eq__(self, other: object) -> bool:
        """Same spelling."""
        return isinstance(other, BaseType) and str(self) == str(other)

    def __hash__(self) -> int:
        """Of the spelling."""
        return hash(str(self))

    def __str__(self) -> str:
        """As a `.msg` file spells it, with the package."""
        if self.pkg_name is not None:
            return f"{self.pkg_name}/{self.type}"
        bound = self.string_upper_bound
        return self.type if bound is None else f"{self.type}{STRING_UPPER_BOUND_TOKEN}{bound}"


class Type(BaseType):
    """The type of a field: an element, an array (`[3]`), a bounded (`[<=3]`) or an unbounded sequence (`[]`).

    Attributes:
        is_array: whether it is one of the latter three.
        array_size: the length or the bound, None for an unbounded sequence.
        is_upper_bound: whether the size is a bound.
    """

    def __init__(self, type_string: str, context_package_name: str | None = None) -> None:
        """Parse a type; raises as `BaseType` does, and TypeError for a size that is no positive integer."""
        self.is_array = type_string.endswith("]") and "[" in type_string
        self.array_size: int | None = None
        self.is_upper_bound = False
        element = type_string
        if self.is_array:
            element, _, size = type_string[:-1].rpartition("[")
            self.is_upper_bound = size.startswith(ARRAY_UPPER_BOUND_TOKEN)
            digits = size.removeprefix(ARRAY_UPPER_BOUND_TOKEN)
            if size and (not digits.isdigit() or int(digits) == 0):
                raise TypeError(f"the size of array type '{type_string}' must be a valid integer value > 0")
            self.array_size = int(digits) if size else None
        super().__init__(element, context_package_name)

    def is_dynamic_array(self) -> bool:
        """Whether the number of elements may vary."""
        return self.is_array and (self.array_size is None or self.is_upper_bound)

    def is_fixed_size_array(self) -> bool:
        """Whether the number of elements is fixed."""
        return self.is_array and not self.is_dynamic_array()

    def __str__(self) -> str:
        """As a `.msg` file spells it."""
        if not self.is_array:
            return super().__str__()
        token = ARRAY_UPPER_BOUND_TOKEN if self.is_upper_bound else ""
        return f"{super().__str__()}[{token}{'' if self.array_size is None else self.array_size}]"
