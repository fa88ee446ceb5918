"""Type stubs of interface packages, so that editors and type checkers know the fields of messages.

The wheel contains those of the bundled packages. For other packages they are written by

    python -m ros2_embedded.stubs my_interfaces --output typings

and the type checker is given that folder (`mypy_path = typings`; pyright uses `typings` by default).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from ros2_embedded.packages import BUNDLED
from ros2_embedded.rosidl.definition import NUMERIC, PLACEHOLDER, Definition, Field, FieldType
from ros2_embedded.rosidl.registry import KINDS, get_definition, interfaces_of

_SCALARS = {
    "string": "str",
    "wstring": "str",
    "bool": "bool",
    "byte": "bytes",
    "float32": "float",
    "float64": "float",
}
_HEADER = """from array import array
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray

from ros2_embedded.rosidl.message import Message

_Array: TypeAlias = NDArray[Any]
_Ints: TypeAlias = array[int] | _Array | Sequence[int]
_Floats: TypeAlias = array[float] | _Array | Sequence[float]
_Bytes: TypeAlias = _Ints | bytes | bytearray | memoryview
"""
_PARTS = {"srv": ("Request", "Response", "Event"), "action": ("Goal", "Result", "Feedback")}


def _module(base: str) -> str:
    """Return the module of a message by full name."""
    return ".".join(base.split("/")[:2])


def _class(base: str) -> str:
    """Return how a stub names the class of a message: its module and its class."""
    package, kind, short = base.split("/")
    if kind != "msg":
        for part in ("Request", "Response", "Event", "Goal", "Result", "Feedback"):
            if short.endswith(f"_{part}"):
                return f"{package}.{kind}.{short.removesuffix(f'_{part}')}.{part}"
    return f"{package}.{kind}.{short}"


def _types(kind: FieldType) -> tuple[str, str]:
    """Return the types that a field returns and accepts; any sequence of numbers for a numeric sequence."""
    scalar = _SCALARS.get(kind.base) or ("int" if kind.base in NUMERIC else _class(kind.base))
    if kind.kind == "single":
        return scalar, scalar
    if kind.base not in NUMERIC:
        return f"list[{scalar}]", f"list[{scalar}]"
    gives = "_Array" if kind.kind == "array" else f"array[{scalar}]"
    takes = "_Bytes" if NUMERIC[kind.base][0] == 1 else "_Floats" if scalar == "float" else "_Ints"
    return gives, takes


def _field(field: Field, indent: str) -> list[str]:
    """Return the lines of a field: an attribute, or a property if it accepts more types than it returns."""
    gives, takes = _types(field.type)
    if gives == takes:
        return [f"{indent}{field.name}: {gives}"]
    return [
        f"{indent}@property",
        f"{indent}def {field.name}(self) -> {gives}: ...",
        f"{indent}@{field.name}.setter",
        f"{indent}def {field.name}(self, value: {takes}) -> None: ...",
    ]


def _message(definition: Definition, name: str, depth: int = 0) -> list[str]:
    """Return the stub of one message class."""
    indent = "    " * (depth + 1)
    lines = [f"{'    ' * depth}class {name}(Message):"]
    kinds = {"str": "str", "bool": "bool", "bytes": "bytes", "float": "float"}
    for constant in definition.constants:
        scalar = kinds.get(_SCALARS.get(constant.type, ""), "int")
        lines.append(f"{indent}{constant.name}: ClassVar[{scalar}]")
    fields = [field for field in definition.fields if field.name != PLACEHOLDER]
    for field in fields:
        lines += _field(field, indent)
    arguments = "".join(f", {field.name}: {_types(field.type)[1]} | None = ..." for field in fields)
    lines.append(f"{indent}def __init__(self, *{arguments}, check_fields: bool = ...) -> None: ...")
    return lines


def _interface(package: str, kind: str, name: str) -> list[str]:
    """Return the stub of a message, or of a service or an action with its message classes."""
    full = f"{package}/{kind}/{name}"
    if kind == "msg":
        return _message(get_definition(full), name)
    lines = [f"class {name}:"]
    for part in _PARTS[kind]:
        lines += _message(get_definition(f"{full}_{part}"), part, 1)
    if kind == "action":
        lines.append("    Impl: ClassVar[Any]")
    return lines


def stub_of(package: str, kind: str) -> str:
    """Return the text of `<package>/<kind>/__init__.pyi`.

    Args:
        package: ROS package with interfaces.
        kind: `msg`, `srv` or `action`.
    """
    lines: list[str] = []
    for name in interfaces_of(package)[kind]:
        lines += ["", *_interface(package, kind, name)]
    body = "\n".join(lines) + "\n"
    imports = sorted(module for module in _mentioned(package, kind) if f"{module}." in body)
    return _HEADER + "".join(f"import {module}\n" for module in imports) + body


def _mentioned(package: str, kind: str) -> set[str]:
    """Return the modules of the classes that are fields of the package's interfaces."""
    found: set[str] = set()
    for name in interfaces_of(package)[kind]:
        full = f"{package}/{kind}/{name}"
        for part in _PARTS.get(kind, ("",)):
            definition = get_definition(f"{full}_{part}" if part else full)
            found.update(
                _module(field.type.base) for field in definition.fields if not field.type.is_primitive
            )
    return found


def write_stubs(packages: Iterable[str], directory: Path, suffix: str = "") -> int:
    """Write the stubs of packages below a directory.

    Args:
        packages: ROS packages with interfaces.
        directory: where `<package><suffix>/<kind>/__init__.pyi` go.
        suffix: `-stubs` makes them stub-only packages as PEP 561 has them.

    Returns:
        The number of files written.
    """
    count = 0
    for package in packages:
        kinds = [kind for kind in KINDS if interfaces_of(package)[kind]]
        for kind in kinds:
            path = directory / f"{package}{suffix}" / kind / "__init__.pyi"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(stub_of(package, kind), "utf-8")
            count += 1
        if kinds:
            (directory / f"{package}{suffix}" / "__init__.pyi").touch()
    return count


def bundled_packages() -> list[str]:
    """Return the packages whose interfaces this distribution carries."""
    return sorted(path.name for path in BUNDLED.iterdir() if path.is_dir() and path.name != "__pycache__")


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ros2_embedded.stubs", description="Write type stubs of ROS interface packages."
    )
    parser.add_argument("packages", nargs="+", help="names of ROS packages")
    parser.add_argument(
        "--output", type=Path, default=Path("typings"), help="directory, `typings` if not given"
    )
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.packages if not any(interfaces_of(name).values())]
    if unknown:
        parser.error(f"no interfaces found in {', '.join(unknown)}")
    count = write_stubs(arguments.packages, arguments.output)
    sys.stdout.write(f"{count} files below {arguments.output}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
