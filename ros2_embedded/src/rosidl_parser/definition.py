"""The types that the fields of an interface can have; `SLOT_TYPES` of message classes is made of them."""

from __future__ import annotations

from collections.abc import Iterable

from .words import (
    ACTION_FEEDBACK_MESSAGE_SUFFIX,
    ACTION_FEEDBACK_SUFFIX,
    ACTION_GOAL_SERVICE_SUFFIX,
    ACTION_GOAL_SUFFIX,
    ACTION_RESULT_SERVICE_SUFFIX,
    ACTION_RESULT_SUFFIX,
    BASIC_TYPES,
    BOOLEAN_TYPE,
    CHARACTER_TYPES,
    CONSTANT_MODULE_SUFFIX,
    EMPTY_STRUCTURE_REQUIRED_MEMBER_NAME,
    EXPLICIT_INTEGER_TYPES,
    FLOATING_POINT_TYPES,
    INTEGER_TYPES,
    NONEXPLICIT_INTEGER_TYPES,
    OCTET_TYPE,
    SERVICE_EVENT_MESSAGE_SUFFIX,
    SERVICE_REQUEST_MESSAGE_SUFFIX,
    SERVICE_RESPONSE_MESSAGE_SUFFIX,
    SIGNED_EXPLICIT_INTEGER_TYPES,
    SIGNED_INTEGER_TYPES,
    SIGNED_NONEXPLICIT_INTEGER_TYPES,
    UNSIGNED_EXPLICIT_INTEGER_TYPES,
    UNSIGNED_INTEGER_TYPES,
    UNSIGNED_NONEXPLICIT_INTEGER_TYPES,
)

__all__ = [
    "ACTION_FEEDBACK_MESSAGE_SUFFIX",
    "ACTION_FEEDBACK_SUFFIX",
    "ACTION_GOAL_SERVICE_SUFFIX",
    "ACTION_GOAL_SUFFIX",
    "ACTION_RESULT_SERVICE_SUFFIX",
    "ACTION_RESULT_SUFFIX",
    "BASIC_TYPES",
    "BOOLEAN_TYPE",
    "CHARACTER_TYPES",
    "CONSTANT_MODULE_SUFFIX",
    "EMPTY_STRUCTURE_REQUIRED_MEMBER_NAME",
    "EXPLICIT_INTEGER_TYPES",
    "FLOATING_POINT_TYPES",
    "INTEGER_TYPES",
    "NONEXPLICIT_INTEGER_TYPES",
    "OCTET_TYPE",
    "SERVICE_EVENT_MESSAGE_SUFFIX",
    "SERVICE_REQUEST_MESSAGE_SUFFIX",
    "SERVICE_RESPONSE_MESSAGE_SUFFIX",
    "SIGNED_EXPLICIT_INTEGER_TYPES",
    "SIGNED_INTEGER_TYPES",
    "SIGNED_NONEXPLICIT_INTEGER_TYPES",
    "UNSIGNED_EXPLICIT_INTEGER_TYPES",
    "UNSIGNED_INTEGER_TYPES",
    "UNSIGNED_NONEXPLICIT_INTEGER_TYPES",
    "AbstractGenericString",
    "AbstractNestableType",
    "AbstractNestedType",
    "AbstractSequence",
    "AbstractString",
    "AbstractType",
    "AbstractWString",
    "Array",
    "BasicType",
    "BoundedSequence",
    "BoundedString",
    "BoundedWString",
    "NamedType",
    "NamespacedType",
    "UnboundedSequence",
    "UnboundedString",
    "UnboundedWString",
]


class AbstractType:
    """Base of all types; two are equal when they have the same class and the same attributes."""

    __slots__: tuple[str, ...] = ()

    def _values(self) -> tuple[object, ...]:
        """The attributes that make the type what it is."""
        return ()

    def __eq__(self, other: object) -> bool:
        """Same class, same attributes."""
        if not isinstance(other, AbstractType) or type(self) is not type(other):
            return False
        return self._values() == other._values()

    def __hash__(self) -> int:
        """Equal types have equal hashes."""
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        """The class and its arguments."""
        return f"{type(self).__name__}({', '.join(map(repr, self._values()))})"


class AbstractNestableType(AbstractType):
    """Base of the types that arrays and sequences may hold."""

    __slots__ = ()


class BasicType(AbstractNestableType):
    """A number, a truth value, a character or an octet.

    Args:
        typename: one of `BASIC_TYPES`.
    """

    __slots__ = ("typename",)

    def __init__(self, typename: str) -> None:
        """Raise AssertionError for a name that is no basic type."""
        assert typename in BASIC_TYPES, f"'{typename}' is no basic type"
        self.typename = typename

    def _values(self) -> tuple[object, ...]:
        return (self.typename,)


class NamedType(AbstractNestableType):
    """A type that is named by a typedef.

    Args:
        name: its name.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """Keep the name."""
        self.name = name

    def _values(self) -> tuple[object, ...]:
        return (self.name,)


class NamespacedType(AbstractNestableType):
    """A type in namespaces, such as the message `std_msgs/msg/Header`.

    Args:
        namespaces: `['std_msgs', 'msg']`.
        name: `Header`.
    """

    __slots__ = ("name", "namespaces")

    def __init__(self, namespaces: Iterable[str], name: str) -> None:
        """Keep both."""
        self.namespaces = list(namespaces)
        self.name = name

    def namespaced_name(self) -> tuple[str, ...]:
        """The namespaces and the name in one tuple."""
        return (*self.namespaces, self.name)

    def _values(self) -> tuple[object, ...]:
        return (tuple(self.namespaces), self.name)


class AbstractGenericString(AbstractNestableType):
    """Base of the string types."""

    __slots__ = ()

    def has_maximum_size(self) -> bool:
        """Whether the length is bounded."""
        return False


class AbstractString(AbstractGenericString):
    """A string of bytes in UTF-8."""

    __slots__ = ()


class AbstractWString(AbstractGenericString):
    """A string of UTF-16 units."""

    __slots__ = ()


class UnboundedString(AbstractString):
    """A string of any length."""

    __slots__ = ()


class UnboundedWString(AbstractWString):
    """A wide string of any length."""

    __slots__ = ()


class BoundedString(AbstractString):
    """A string of at most `maximum_size` characters."""

    __slots__ = ("maximum_size",)

    def __init__(self, maximum_size: int) -> None:
        """Raise AssertionError for a negative size."""
        assert maximum_size >= 0, "a string cannot have a negative size"
        self.maximum_size = maximum_size

    def has_maximum_size(self) -> bool:
        """It is bounded."""
        return True

    def _values(self) -> tuple[object, ...]:
        return (self.maximum_size,)


class BoundedWString(AbstractWString):
    """A wide string of at most `maximum_size` characters."""

    __slots__ = ("maximum_size",)

    def __init__(self, maximum_size: int) -> None:
        """Raise AssertionError for a negative size."""
        assert maximum_size >= 0, "a string cannot have a negative size"
        self.maximum_size = maximum_size

    def has_maximum_size(self) -> bool:
        """It is bounded."""
        return True

    def _values(self) -> tuple[object, ...]:
        return (self.maximum_size,)


class AbstractNestedType(AbstractType):
    """Base of arrays and sequences; `value_type` is the type of their elements."""

    __slots__ = ("value_type",)

    def __init__(self, value_type: AbstractNestableType) -> None:
        """Raise AssertionError for an element type that cannot be nested."""
        assert isinstance(value_type, AbstractNestableType), f"{value_type!r} cannot be nested"
        self.value_type = value_type

    def has_maximum_size(self) -> bool:
        """Whether the number of elements is bounded."""
        return False

    def _values(self) -> tuple[object, ...]:
        return (self.value_type,)


class Array(AbstractNestedType):
    """Exactly `size` elements."""

    __slots__ = ("size",)

    def __init__(self, value_type: AbstractNestableType, size: int) -> None:
        """Keep both."""
        super().__init__(value_type)
        self.size = size

    def has_maximum_size(self) -> bool:
        """It is bounded."""
        return True

    def _values(self) -> tuple[object, ...]:
        return (self.value_type, self.size)


class AbstractSequence(AbstractNestedType):
    """Any number of elements up to a bound, if there is one."""

    __slots__ = ()


class BoundedSequence(AbstractSequence):
    """At most `maximum_size` elements."""

    __slots__ = ("maximum_size",)

    def __init__(self, value_type: AbstractNestableType, maximum_size: int) -> None:
        """Raise AssertionError for a negative size."""
        super().__init__(value_type)
        assert maximum_size >= 0, "a sequence cannot have a negative size"
        self.maximum_size = maximum_size

    def has_maximum_size(self) -> bool:
        """It is bounded."""
        return True

    def _values(self) -> tuple[object, ...]:
        return (self.value_type, self.maximum_size)


class UnboundedSequence(AbstractSequence):
    """Any number of elements."""

    __slots__ = ()
