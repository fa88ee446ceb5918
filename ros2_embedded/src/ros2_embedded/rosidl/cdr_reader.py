"""Generates the function that reads one message type from XCDR1; the mirror image of `cdr_writer`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ros2_embedded.rosidl import cdr_support
from ros2_embedded.rosidl.cdr_writer import SCALARS, Alignment
from ros2_embedded.rosidl.definition import NUMERIC, PLACEHOLDER, Definition, FieldType
from ros2_embedded.rosidl.registry import get_definition


class Reader:
    """Collects the source lines of a deserialiser."""

    def __init__(self, class_of: Callable[[str], type]) -> None:
        """Start an empty function body.

        Args:
            class_of: returns the message class of a full name.
        """
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "new": object.__new__,
            "frombuffer": np.frombuffer,
            "read_text": cdr_support.read_text,
            "read_bytes": cdr_support.read_bytes,
            "read_wide_text": cdr_support.read_wide_text,
            "read_array": cdr_support.read_array,
            "check_count": cdr_support.check_count,
        }
        self.class_of = class_of
        self.position = Alignment()
        self.format = ""
        self.targets: list[str] = []
        self.deferred: list[str] = []
        self.indent = 2
        self.counter = 0

    def emit(self, line: str) -> None:
        """Add a line at the present indentation."""
        self.lines.append("    " * self.indent + line)

    def variable(self) -> str:
        """Return a fresh local name."""
        self.counter += 1
        return f"v{self.counter}"

    def flush(self) -> None:
        """Emit the code that reads the collected scalars, then that of the objects that need them."""
        if self.format:
            name = f"unpack_{self.format.replace('?', 'T')}"
            code = struct.Struct("<" + self.format)
            self.names[name] = code.unpack_from
            if self.targets:
                self.emit(f"{', '.join(self.targets)}, = {name}(data, pos)")
            self.emit(f"pos += {code.size}")
            self.format, self.targets = "", []
        for line in self.deferred:
            self.emit(line)
        self.deferred = []

    def align(self, size: int) -> None:
        """Emit the code that advances the position to a multiple of `size` bytes."""
        padding = self.position.padding(size)
        if padding is None:
            self.flush()
            self.emit(f"pos = (pos + {size - 1}) & -{size}")
            self.position.forget(size)
        elif padding:
            self.format += "x" * padding
            self.position.advance(padding)

    def scalar(self, base: str) -> str:
        """Add the reading of one scalar; return its variable, which is set after the next flush."""
        size, code = SCALARS[base]
        self.align(size)
        name = self.variable()
        self.format += code
        self.targets.append(name)
        self.position.advance(size)
        return name

    def string(self) -> str:
        """Read a string."""
        length = self.scalar("uint32")
        self.flush()
        name = self.variable()
        self.emit(f"{name} = read_text(data, pos, {length})")
        self.emit(f"pos += {length}")
        self.position.forget()
        return name

    def wide_string(self) -> str:
        """Read a wide string."""
        count = self.scalar("uint32")
        self.flush()
        name = self.variable()
        self.emit(f"{name} = read_wide_text(data, pos, {count})")
        self.emit(f"pos += 4 * {count}")
        self.position.forget(4)
        return name

    def collection(self, kind: FieldType) -> str:
        """Read an array or a sequence of any element type."""
        if kind.base in NUMERIC:
            return self.numeric(kind)
        count = str(kind.size) if kind.kind == "array" else self.count(kind)
        name = self.variable()
        self.flush()
        if kind.base in ("bool", "byte"):
            element = "bool(x)" if kind.base == "bool" else "bytes((x,))"
            self.emit(f"{name} = [{element} for x in read_bytes(data, pos, {count})]")
            self.emit(f"pos += {count}")
        else:
            self.emit(f"{name} = []")
            self.emit(f"for _ in range({count}):")
            self.indent += 1
            self.position.forget()
            element = self.value(FieldType(kind.base))
            self.flush()
            self.emit(f"{name}.append({element})")
            self.indent -= 1
        self.position.forget()
        return name

    def count(self, kind: FieldType) -> str:
        """Read the number of elements of a sequence, and check it where there is a bound."""
        count = self.scalar("uint32")
        self.flush()
        if kind.size:
            self.emit(f"check_count({count}, {kind.size})")
        return count

    def numeric(self, kind: FieldType) -> str:
        """Read numbers as in rclpy: an array as a numpy array, a sequence as `array.array`."""
        size, code = NUMERIC[kind.base]
        if kind.kind == "array":
            self.align(size)
            self.flush()
            name, dtype = self.variable(), f"dtype_{kind.base}"
            self.names[dtype] = cdr_support.DTYPES[kind.base]
            self.emit(f"{name} = frombuffer(data, {dtype}, {kind.size}, pos).copy()")
            self.emit(f"pos += {kind.size * size}")
            self.position.advance(kind.size * size)
            return name
        count = self.count(kind)
        name = self.variable()
        if size == 8:
            self.emit(f"if {count}:")
            self.emit("    pos = (pos + 7) & -8")
        self.emit(f"{name} = read_array({code!r}, data, pos, {count} * {size})")
        self.emit(f"pos += {count} * {size}")
        self.position.forget(min(size, 4))
        return name

    def value(self, kind: FieldType) -> str:
        """Add the reading of a value of any type; return its expression, valid after the next flush."""
        if kind.kind != "single":
            return self.collection(kind)
        if kind.base == "string":
            return self.string()
        if kind.base == "wstring":
            return self.wide_string()
        if kind.is_primitive:
            return self.scalar(kind.base)
        fields = get_definition(kind.base).fields
        values = [self.value(field.type) for field in fields]
        name, constructor = self.variable(), "class_" + kind.base.replace("/", "__")
        self.names[constructor] = self.class_of(kind.base)
        self.deferred.append(f"{name} = new({constructor})")
        self.deferred += [
            f"{name}._{field.name} = {value}"
            for field, value in zip(fields, values, strict=True)
            if field.name != PLACEHOLDER
        ]
        return name


def make_deserializer(definition: Definition, class_of: Callable[[str], type]) -> Callable[[Any], Any]:
    """Return the function `CDR -> message` of a type.

    The function takes a bytes-like object that begins with the encapsulation header. It raises
    `SerializationError` if the bytes end early or are not little endian CDR.
    """
    reader = Reader(class_of)
    result = reader.value(FieldType(definition.name))
    reader.flush()
    reader.names.update(StructError=struct.error, SerializationError=cdr_support.SerializationError)
    source = "\n".join(
        [
            "def deserialize(buffer):",
            "    if bytes(buffer[:2]) != b'\\x00\\x01':",
            f"        raise SerializationError({definition.name!r} + ': not little endian CDR')",
            "    data, pos = memoryview(buffer)[4:], 0",
            "    try:",
            *reader.lines,
            "    except (StructError, ValueError) as error:",
            f"        raise SerializationError({definition.name!r} + f': {{error}}') from error",
            f"    return {result}",
        ]
    )
    exec(compile(source, f"<cdr reader of {definition.name}>", "exec"), reader.names)
    function: Callable[[Any], Any] = reader.names["deserialize"]
    return function
