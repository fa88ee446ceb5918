"""Values of constants and defaults in interface files."""

from __future__ import annotations

import ast
from typing import Any

from .types import BaseType, Type

_BITS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}
_RANGES = {
    name: (0, 2**n - 1) if sign else (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for name, (sign, n) in _BITS.items()
}
_RANGES |= {"byte": (0, 255), "char": (0, 255)}


class InvalidValue(Exception):
    """A text is no value of its type."""

    def __init__(self, type_: object, value_string: str, message_suffix: str | None = None) -> None:
        """Say which text, which type and, if known, why."""
        reason = f": {message_suffix}" if message_suffix is not None else ""
        super().__init__(f"value '{value_string}' can not be converted to type '{type_}'{reason}")


def parse_value_string(type_: Type, value_string: str) -> Any:
    """Return the Python value of a text.

    Raises:
        InvalidValue: the text does not fit the type.
        NotImplementedError: the type is a message.
    """
    if not type_.is_primitive_type():
        raise NotImplementedError(f"parsing string values into type '{type_}' is not supported")
    if not type_.is_array:
        return parse_primitive_value_string(type_, value_string)
    if not (value_string.startswith("[") and value_string.endswith("]")):
        raise InvalidValue(type_, value_string, "array value must start with '[' and end with ']'")
    words = split_elements(value_string[1:-1])
    size, bounded = type_.array_size, type_.is_upper_bound
    if size is not None and (len(words) > size or (not bounded and len(words) != size)):
        wanted = f"not more than {size}" if bounded else f"exactly {size}"
        raise InvalidValue(type_, value_string, f"array must have {wanted} elements, not {len(words)}")
    element = BaseType(BaseType.__str__(type_))
    try:
        return [parse_primitive_value_string(element, word) for word in words]
    except InvalidValue as error:
        raise InvalidValue(type_, value_string, str(error)) from error


def split_elements(text: str) -> list[str]:
    """Split at commas that stand in no quotes."""
    words, word, quote = [], "", ""
    for index, char in enumerate(text):
        if char == quote and text[index - 1] != "\\":
            quote = ""
        elif not quote and char in "\"'":
            quote = char
        if char == "," and not quote:
            words.append(word)
            word = ""
        else:
            word += char
    return [item.strip() for item in [*words, word]] if text.strip() else []


def parse_primitive_value_string(type_: BaseType, value_string: str) -> Any:
    """Return the Python value of a text of a primitive type.

    Raises:
        InvalidValue: the text does not fit the type.
    """
    name = type_.type
    if name == "bool":
        if value_string.lower() not in ("true", "1", "false", "0"):
            raise InvalidValue(name, value_string, "must be either 'true' / '1' or 'false' / '0'")
        return value_string.lower() in ("true", "1")
    if name in _RANGES:
        low, high = _RANGES[name]
        try:
            number = int(value_string, 0)
        except ValueError:
            number = high + 1
        if not low <= number <= high:
            raise InvalidValue(name, value_string, f"must be a valid integer value >= {low} and <= {high}")
        return number
    if name in ("float32", "float64"):
        try:
            return float(value_string)
        except ValueError:
            raise InvalidValue(
                name, value_string, "must be a floating point number using '.' as the separator"
            ) from None
    if name in ("string", "wstring"):
        return _parse_string(type_, value_string)
    raise AssertionError(f"unknown primitive type '{name}'")


def _parse_string(type_: BaseType, text: str) -> str:
    """A string, with its quotes if it has them taken off."""
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        try:
            text = str(ast.literal_eval(text))
        except (SyntaxError, ValueError):
            raise InvalidValue(type_.type, text, "string inner quotes not properly escaped") from None
    bound = type_.string_upper_bound
    if bound is not None and len(text) > bound:
        raise InvalidValue(
            type_.type, text, f"string must not exceed the maximum length of {bound} characters"
        )
    return text
