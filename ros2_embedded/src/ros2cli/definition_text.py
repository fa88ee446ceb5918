"""Interface definitions as text."""

from __future__ import annotations

from collections.abc import Iterator

from ros2_embedded.rosidl.parser import InterfaceSyntaxError, parse_type, read_definition, strip_comment
from ros2_embedded.rosidl.registry import InterfaceNotFoundError, source_file


class InterfaceTextLine:
    """One line of an interface file.

    Args:
        pkg_name: the package of the interface, which a type without a package belongs to.
        msg_name: the name of the interface.
        line_text: the line.

    Raises:
        ValueError: the text has more than one line.
    """

    def __init__(self, pkg_name: str, msg_name: str, line_text: str) -> None:
        """Split the line into what it declares and its comment."""
        if "\n" in line_text.rstrip("\n"):
            raise ValueError(f"a definition of one line is needed, but '{line_text}' has more")
        self._package = pkg_name
        self._text = line_text.rstrip()
        self._code = "" if self.is_comment() else strip_comment(self._text).rstrip()

    def __str__(self) -> str:
        """The line itself."""
        return self._text

    @property
    def code(self) -> str:
        """The line without its comment."""
        return self._code

    def is_comment(self) -> bool:
        """Whether the line is nothing but a comment."""
        return self._text.lstrip().startswith("#")

    def is_trailing_comment(self) -> bool:
        """Whether a comment follows what the line declares."""
        return self.trailing_comment is not None

    @property
    def trailing_comment(self) -> str | None:
        """The text of the comment that follows what the line declares, None without one."""
        comment = self._text[len(self._code) :].lstrip()
        return comment[1:].strip() if self._code and comment else None

    @property
    def nested_type(self) -> str | None:
        """The full name of the message that the line declares a field of, None for another line."""
        words = self._code.split(maxsplit=1)
        if len(words) < 2 or words[0].startswith("---"):
            return None
        kind = parse_type(words[0], self._package)
        return None if kind.is_primitive else kind.base


def definition_text(name: str, *, comments: bool = True, nested_comments: bool = False) -> str:
    """Return an interface as its file spells it, with the fields of nested messages indented below them.

    Args:
        name: `package/kind/Name`.
        comments: whether its own comments and blank lines are kept.
        nested_comments: whether those of nested messages are.

    Raises:
        InterfaceNotFoundError: there is no such interface.
        InterfaceSyntaxError: its file cannot be read, it contains itself, or what it contains is missing.
    """
    lines = _lines((name,), comments, nested_comments)
    return "".join(f"{line}\n" for line in lines)


def _lines(names: tuple[str, ...], comments: bool, nested_comments: bool) -> Iterator[str]:
    """Yield the lines of the last of some interfaces, each of which has a field of the next."""
    name, depth = names[-1], len(names) - 1
    path = source_file(name)
    package, _, stem = name.split("/")
    if path is None or path.stem != stem:
        if depth:
            raise InterfaceSyntaxError(f"{names[-2]} has a field of {name}, which is not installed")
        raise InterfaceNotFoundError(f"Unknown interface '{name}'")
    if name in names[:-1]:
        raise InterfaceSyntaxError(f"a message contains itself: {' > '.join(names)}")
    lines = [InterfaceTextLine(package, stem, text) for text in read_definition(path).splitlines()]
    try:
        nested = [line.nested_type for line in lines]
    except ValueError as error:
        raise InterfaceSyntaxError(f"{path}: {error}") from error
    for line, inner in zip(lines, nested, strict=True):
        shown = str(line) if comments else line.code
        if shown or comments:
            yield "\t" * depth + shown if shown else ""
        if inner is not None:
            yield from _lines((*names, inner), nested_comments, nested_comments)
