"""Parameters and their values."""

from __future__ import annotations

import array
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import ParameterType, ParameterValue

from rclpy.arguments import matches_node, parse_value, read_parameter_file

PARAMETER_SEPARATOR_STRING = "."
AllowableParameterValue: TypeAlias = (
    "bool | int | float | str | list[bytes] | list[bool] | list[int] | list[float] | list[str] | "
    "tuple[bytes, ...] | tuple[bool, ...] | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | "
    "array.array | None"
)
_FIELDS = {
    1: "bool_value",
    2: "integer_value",
    3: "double_value",
    4: "string_value",
    5: "byte_array_value",
    6: "bool_array_value",
    7: "integer_array_value",
    8: "double_array_value",
    9: "string_array_value",
}
_ELEMENTS = {5: bytes, 6: bool, 7: int, 8: float, 9: str}


class Parameter:
    """A parameter: name, type and value."""

    class Type(IntEnum):
        """Parameter types; the values are those of `rcl_interfaces/msg/ParameterType`."""

        NOT_SET = 0
        BOOL = 1
        INTEGER = 2
        DOUBLE = 3
        STRING = 4
        BYTE_ARRAY = 5
        BOOL_ARRAY = 6
        INTEGER_ARRAY = 7
        DOUBLE_ARRAY = 8
        STRING_ARRAY = 9

        __str__ = Enum.__str__

        @classmethod
        def from_parameter_value(cls, parameter_value: Any) -> Parameter.Type:
            """The type of a Python value; an empty list is a BYTE_ARRAY, as in rclpy.

            Raises:
                TypeError: no parameter type fits.
            """
            if parameter_value is None:
                return cls.NOT_SET
            for kind, member in (
                (bool, cls.BOOL),
                (int, cls.INTEGER),
                (float, cls.DOUBLE),
                (str, cls.STRING),
            ):
                if isinstance(parameter_value, kind):
                    return member
            if isinstance(parameter_value, (list, tuple, array.array, np.ndarray)):
                values = list(parameter_value)
                for number in (5, 6, 7, 8, 9):
                    if all(_is_element(value, number) for value in values):
                        return cls(number)
            raise TypeError(f"The given value is not one of the allowed types '{parameter_value}'.")

        def check(self, parameter_value: Any) -> bool:
            """True when a Python value fits this type."""
            if self is Parameter.Type.NOT_SET:
                return parameter_value is None
            scalar = {1: bool, 2: int, 3: float, 4: str}.get(self.value)
            if scalar is not None:
                wrong_bool = isinstance(parameter_value, bool) and scalar is not bool
                return isinstance(parameter_value, scalar) and not wrong_bool
            if not isinstance(parameter_value, (list, tuple, array.array, np.ndarray)):
                return False
            return all(_is_element(value, self.value) for value in parameter_value)

    @classmethod
    def from_parameter_msg(cls, param_msg: Any) -> Parameter:
        """From `rcl_interfaces/msg/Parameter`."""
        kind = cls.Type(param_msg.value.type)
        return cls(param_msg.name, kind, parameter_value_to_python(param_msg.value))

    def __init__(self, name: str, type_: Parameter.Type | None = None, value: Any = None) -> None:
        """Make a parameter; the type is worked out from the value when it is not given.

        Raises:
            TypeError: no `Parameter.Type`, or no parameter type fits the value.
            ValueError: the value does not fit the type.
        """
        if type_ is None:
            type_ = Parameter.Type.from_parameter_value(value)
        if not isinstance(type_, Parameter.Type):
            raise TypeError("type must be an instance of Parameter.Type")
        if not type_.check(value):
            raise ValueError(f"Type '{type_}' and value '{value}' do not agree")
        self._name, self._type, self._value = name, type_, value

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def type_(self) -> Parameter.Type:
        """The type."""
        return self._type

    @property
    def value(self) -> Any:
        """The value."""
        return self._value

    def get_parameter_value(self) -> Any:
        """The value as `rcl_interfaces/msg/ParameterValue`."""
        message = ParameterValue(type=self._type.value)
        field = _FIELDS.get(self._type.value)
        if field is not None:
            setattr(message, field, list(self._value) if self._type.value >= 5 else self._value)
        return message

    def to_parameter_msg(self) -> Any:
        """As `rcl_interfaces/msg/Parameter`."""
        return ParameterMsg(name=self._name, value=self.get_parameter_value())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        return (self._name, self._type, self._value) == (other._name, other._type, other._value)

    def __hash__(self) -> int:
        return hash((self._name, self._type))

    def __repr__(self) -> str:
        return f"Parameter({self._name!r}, {self._type}, {self._value!r})"


def _is_element(value: Any, number: int) -> bool:
    """True when a value may be an element of an array type."""
    if isinstance(value, (bool, np.bool_)):
        return number == 6
    if number == 7:
        return isinstance(value, (int, np.integer))
    if number == 8:
        return isinstance(value, (float, np.floating))
    return isinstance(value, _ELEMENTS[number])


def parameter_value_to_python(parameter_value: Any) -> Any:
    """The Python value of an `rcl_interfaces/msg/ParameterValue`.

    Raises:
        RuntimeError: an unknown type number.
    """
    number = parameter_value.type
    if number == ParameterType.PARAMETER_NOT_SET:
        return None
    field = _FIELDS.get(number)
    if field is None:
        raise RuntimeError(f"unexpected parameter type {number}")
    value = getattr(parameter_value, field)
    return list(value) if number >= 5 else value


def get_parameter_value(string_value: str) -> Any:
    """The `ParameterValue` of a YAML text; what no type fits, and nothing (`~`, a blank), is a string."""
    try:
        value = normalise(parse_value(string_value, "parameter"))
        if value is None:
            value = string_value
        return Parameter("", value=value).get_parameter_value()
    except (TypeError, ValueError):
        return Parameter("", value=string_value).get_parameter_value()


def normalise(value: Any) -> Any:
    """A YAML value as parameters know it: a list that mixes int and float holds floats."""
    kinds = {type(item) for item in value} if isinstance(value, list) else set()
    return [float(item) for item in value] if kinds == {int, float} else value


def parameter_dict_from_yaml_file(
    parameter_file: str,
    use_wildcard: bool = False,
    target_nodes: list[str] | None = None,
    namespace: str = "",
) -> dict[str, Any]:
    """Parameters of a file, by name, as `rcl_interfaces/msg/Parameter`.

    Args:
        parameter_file: path of the YAML file.
        use_wildcard: take the entries with `*` in the name of the node too, where they fit; those of a node
            win over them, wherever they stand.
        target_nodes: fully qualified names of the nodes wanted; None or none for all.
        namespace: put in front of each name.

    Raises:
        FileNotFoundError: there is no such file.
        RuntimeError: the file has another layout, it holds nothing for a target node, nothing is left, or a
            value is none of a parameter.
    """
    Path(parameter_file).stat()
    targets = [f"/{node.lstrip('/')}" for node in target_nodes or []]
    absent = set(targets)
    found: dict[str, Any] = {}
    entries = sorted(read_parameter_file(parameter_file), key=lambda entry: "*" not in entry[0])
    for pattern, name, value in entries:
        node = f"/{pattern.lstrip('/')}"
        if "*" in node and not use_wildcard:
            continue
        fitting = [target for target in targets if target == node or _fits(node, target)]
        if targets and not fitting:
            continue
        absent.difference_update(fitting)
        full = namespace + name
        try:
            found[full] = Parameter(full, value=normalise(value)).to_parameter_msg()
        except TypeError as error:
            raise RuntimeError(f"{parameter_file}: parameter '{name}': {error}") from error
    if absent or not found:
        nodes = ", ".join(sorted(absent)) or "any node"
        raise RuntimeError(f"Param file does not contain any valid parameters for {nodes}: {parameter_file}")
    return found


def _fits(pattern: str, node: str) -> bool:
    """True when a pattern with `*` means a node; `/**/` before a name stands for one namespace or more."""
    if "*" not in pattern:
        return False
    return pattern == "/**" or matches_node(pattern.replace("/**/", "/*/**/", 1), node)
