"""Generates the function that serialises one message type to XCDR1.

Nested types are written inline, and adjacent scalars by one `struct` call, so a message without strings and
sequences takes a single call. The alignment of the write position is tracked while the code is generated;
only positions that are not known then are aligned at run time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from ros2_embedded.rosidl import cdr_support
from ros2_embedded.rosidl.definition import NUMERIC, PLACEHOLDER, Definition, FieldType
from ros2_embedded.rosidl.registry import get_definition

SCALARS: dict[str, tuple[int, str]] = {**NUMERIC, "bool": (1, "?"), "byte": (1, "c")}


class Alignment:
    """What is known of the write position [bytes]: it is congruent to `offset` modulo `modulus`."""

    def __init__(self) -> None:
        """Start at the first byte after the encapsulation header."""
        self.modulus, self.offset = 8, 0

    def forget(self, modulus: int = 1) -> None:
        """Record that the position is known only to be a multiple of `modulus`."""
        self.modulus, self.offset = modulus, 0

    def advance(self, size: int) -> None:
        """Record that the position moved by `size` bytes."""
        self.offset = (self.offset + size) % self.modulus

    def padding(self, size: int) -> int | None:
        """Return the bytes to the next multiple of `size`; None: they are known only at run time."""
        return -self.offset % size if self.modulus >= size else None


class Writer:
    """Collects the source lines of a serialiser."""

    def __init__(self) -> None:
        """Start an empty function body."""
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "PADDING": cdr_support.PADDING,
            "HEADER": cdr_support.ENCAPSULATION,
            "raw_array": cdr_support.raw_array,
            "raw_fixed_array": cdr_support.raw_fixed_array,
            "check_length": cdr_support.check_length,
            "check_count": cdr_support.check_count,
            "join_bytes": cdr_support.join_bytes,
            "wide_text": cdr_support.wide_text,
        }
        self.position = Alignment()
        self.format = ""
        self.values: list[str] = []
        self.indent = 1
        self.counter = 0

    def emit(self, line: str) -> None:
        """Add a line at the present indentation."""
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        """Return a fresh local name."""
        self.counter += 1
        return f"v{self.counter}"

    def flush(self) -> None:
        """Emit the code that writes the collected scalars."""
        if self.format:
            name = f"pack_{self.format.replace('?', 'T')}"
            self.names[name] = struct.Struct("<" + self.format).pack
            self.emit(f"out += {name}({', '.join(self.values)})")
            self.format, self.values = "", []

    def align(self, size: int) -> None:
        """Emit the code that pads to a multiple of `size` bytes."""
        padding = self.position.padding(size)
        if padding is None:
            self.flush()
            self.emit(f"out += PADDING[(4 - len(out)) % {size}]")
            self.position.forget(size)
        elif padding:
            self.format += "x" * padding
            self.position.advance(padding)

    def scalar(self, base: str, expression: str) -> None:
        """Append one scalar."""
        size, code = SCALARS[base]
        self.align(size)
        self.format += code
        self.values.append(expression)
        self.position.advance(size)

    def string(self, expression: str) -> None:
        """Append a string: length with terminator, UTF-8 bytes, terminator."""
        name = self.variable()
        self.emit(f"{name} = {expression}.encode()")
        self.scalar("uint32", f"len({name}) + 1")
        self.flush()
        self.emit(f"out += {name}")
        self.emit("out.append(0)")
        self.position.forget()

    def wide_string(self, expression: str) -> None:
        """Append a wide string: number of units, then each as 32 bits; no terminator."""
        name = self.variable()
        self.emit(f"{name} = wide_text({expression})")
        self.scalar("uint32", f"len({name}) // 4")
        self.flush()
        self.emit(f"out += {name}")
        self.position.forget(4)

    def collection(self, kind: FieldType, expression: str) -> None:
        """Append an array or a sequence of any element type."""
        fixed = kind.kind == "array"
        name = self.variable()
        if kind.base in NUMERIC:
            self.numeric(kind, expression, name)
            return
        limit = f"check_length({expression}, {kind.size}, {fixed})" if kind.size or fixed else expression
        self.emit(f"{name} = {limit}")
        if not fixed:
            self.scalar("uint32", f"len({name})")
        self.flush()
        if kind.base == "bool":
            self.emit(f"out += bytes(map(bool, {name}))")
        elif kind.base == "byte":
            self.emit(f"out += join_bytes({name})")
        else:
            element = self.variable()
            self.emit(f"for {element} in {name}:")
            self.indent += 1
            self.position.forget()
            self.value(FieldType(kind.base, string_bound=kind.string_bound), element)
            self.flush()
            self.indent -= 1
        self.position.forget()

    def numeric(self, kind: FieldType, expression: str, name: str) -> None:
        """Append the raw bytes of an array or a sequence of numbers."""
        size = NUMERIC[kind.base][0]
        if kind.kind == "array":
            self.emit(f"{name} = raw_fixed_array({expression}, {kind.base!r}, {kind.size})")
            self.align(size)
            self.flush()
            self.emit(f"out += {name}")
            self.position.advance(size * kind.size)
            return
        self.emit(f"{name} = raw_array({expression}, {kind.base!r})")
        if kind.size:
            self.emit(f"check_count(len({name}) // {size}, {kind.size})")
        self.scalar("uint32", f"len({name}) // {size}")
        self.flush()
        if size == 8:  # an empty sequence of 8-byte elements ends after its count, without padding
            self.emit(f"if {name}:")
            self.emit("    out += PADDING[(4 - len(out)) % 8]")
        self.emit(f"out += {name}")
        self.position.forget(min(size, 4))

    def value(self, kind: FieldType, expression: str) -> None:
        """Append a value of any type."""
        if kind.kind == "single" and kind.string_bound:
            expression = f"check_length({expression}, {kind.string_bound}, False)"
        if kind.kind != "single":
            self.collection(kind, expression)
        elif kind.base == "string":
            self.string(expression)
        elif kind.base == "wstring":
            self.wide_string(expression)
        elif kind.is_primitive:
            self.scalar(kind.base, expression)
        else:
            for field in get_definition(kind.base).fields:
                self.value(field.type, "0" if field.name == PLACEHOLDER else f"{expression}._{field.name}")


def make_serializer(definition: Definition) -> Callable[[Any], bytearray]:
    """Return the function `message -> CDR` (a bytearray with its encapsulation header) of a type."""
    writer = Writer()
    writer.value(FieldType(definition.name), "message")
    writer.flush()
    source = "\n".join(
        ["def serialize(message):", "    out = bytearray(HEADER)", *writer.lines, "    return out"]
    )
    exec(compile(source, f"<cdr writer of {definition.name}>", "exec"), writer.names)
    function: Callable[[Any], bytearray] = writer.names["serialize"]
    return function
