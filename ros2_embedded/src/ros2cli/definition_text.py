"""Interface definitions as text."""

from __future__ import annotations

from collections.abc import Iterator

from ros2_embedded.rosidl.parser import parse_type, strip_comment
from ros2_embedded.rosidl.registry import InterfaceNotFoundError, source_file


def definition_text(name: str, *, comments: bool = True, nested_comments: bool = False) -> str:
    """Return an interface as its file spells it, with the fields of nested messages indented below them.

    Args:
        name: `package/kind/Name`.
        comments: whether its own comments and blank lines are kept.
        nested_comments: whether those of nested messages are.

    Raises:
        InterfaceNotFoundError: there is no such interface.
    """
    lines = _lines(name, 0, comments, nested_comments)
    return "".join(f"{line}\n" for line in lines)


def _lines(name: str, depth: int, comments: bool, nested_comments: bool) -> Iterator[str]:
    path = source_file(name)
    if path is None or path.stem != name.rpartition("/")[2]:
        raise InterfaceNotFoundError(f"Unknown interface '{name}'")
    indent = "\t" * depth
    for line in path.read_text("utf-8").splitlines():
        code = strip_comment(line).rstrip() if line.strip()[:1] != "#" else ""
        shown = line.rstrip() if comments else code
        if shown or (comments and depth == 0):
            yield f"{indent}{shown}" if shown else ""
        nested = _nested_type(code.strip(), name.partition("/")[0])
        if nested is not None:
            yield from _lines(nested, depth + 1, nested_comments, nested_comments)


def _nested_type(code: str, package: str) -> str | None:
    """The full name of the message that a line declares a field of, None for another line."""
    words = code.split(maxsplit=1)
    if len(words) < 2 or code.startswith("---"):
        return None
    kind = parse_type(words[0], package)
    return None if kind.is_primitive else kind.base
