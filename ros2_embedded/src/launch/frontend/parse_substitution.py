"""Reading of substitutions written in text.

    text          = { plain | substitution }
    substitution  = "$(" name { " " argument } ")"
    argument      = "'" text "'" | '"' text '"' | { word | substitution }

A backslash takes its meaning, if any, from the character after it. Outside of a
substitution quotes are text. Inside a quoted argument only that argument's own quote ends it: substitutions
there cannot quote their arguments again.
"""

from __future__ import annotations

import re
from typing import Any

from ..substitution import Substitution
from .expose import substitution_parse_methods

_NAME = re.compile(r"[A-Za-z][\w-]*")


def parse_substitution(string_value: str) -> list[Substitution]:
    """Return text with `$(name arguments)` in it as substitutions.

    Raises RuntimeError for a substitution nobody exposed, ValueError for one that is malformed.
    """
    reader = _Reader(string_value)
    parts = reader.text(quote="")
    from ..substitutions.text_substitution import TextSubstitution

    return parts or [TextSubstitution(text="")]


def parse_if_substitutions(value: Any) -> Any:
    """Return text as substitutions, the items of a list each, and anything else as it is.

    Raises ValueError for a list with plain items of several types.
    """
    if isinstance(value, str):
        parts = parse_substitution(value)
        from ..substitutions.text_substitution import TextSubstitution

        plain = all(isinstance(part, TextSubstitution) for part in parts)
        return "".join(part.perform(None) for part in parts) if plain else parts  # type: ignore[arg-type]
    if isinstance(value, list):
        items = [parse_if_substitutions(item) for item in value]
        kinds = {type(item) for item in items if not isinstance(item, list)}
        if len(kinds) > 1:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"the items of {value!r} are of several types: {names}")
        return items
    return value


class _Reader:
    """A position in a text."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def _next_is(self, token: str) -> bool:
        return self._source.startswith(token, self._at)

    def _error(self, problem: str) -> ValueError:
        return ValueError(f"{problem} at character {self._at} of {self._source!r}")

    def text(self, quote: str) -> list[Substitution]:
        """Read up to the end or the closing quote, which is consumed."""
        parts: list[Substitution] = []
        plain = ""
        while True:
            if self._at >= len(self._source):
                if quote:
                    raise self._error(f"missing {quote}")
                break
            if quote and self._next_is(quote):
                self._at += 1
                break
            if self._next_is("$("):
                plain = self._keep(parts, plain)
                parts.append(self._substitution(quote))
            else:
                plain += self._character()
        self._keep(parts, plain)
        return parts

    def _character(self) -> str:
        """Read one character, or the one behind a backslash."""
        escaped = self._next_is("\\") and self._at + 1 < len(self._source)
        self._at += 2 if escaped else 1
        return self._source[self._at - 1]

    def _keep(self, parts: list[Substitution], plain: str) -> str:
        from ..substitutions.text_substitution import TextSubstitution

        if plain:
            parts.append(TextSubstitution(text=plain))
        return ""

    def _substitution(self, quote: str) -> Substitution:
        start = self._at
        self._at += 2
        match = _NAME.match(self._source, self._at)
        if match is None:
            raise self._error("expected the name of a substitution")
        self._at = match.end()
        arguments = []
        while True:
            before = self._at
            while self._at < len(self._source) and self._source[self._at].isspace():
                self._at += 1
            if self._next_is(")"):
                self._at += 1
                break
            if self._at >= len(self._source) or (quote and self._next_is(quote)):
                raise self._error("missing )")
            if before == self._at:
                raise self._error("expected a space or )")
            arguments.append(self._argument(quote))
        return _make(match[0], arguments, self._source[start : self._at])

    def _argument(self, quote: str) -> list[Substitution]:
        if not quote and (self._next_is("'") or self._next_is('"')):
            self._at += 1
            return self.text(self._source[self._at - 1])
        parts: list[Substitution] = []
        plain = ""
        while self._at < len(self._source) and not self._source[self._at].isspace():
            if self._next_is(")") or (quote and self._next_is(quote)):
                break
            if self._next_is("$("):
                plain = self._keep(parts, plain)
                parts.append(self._substitution(quote))
            else:
                plain += self._character()
        self._keep(parts, plain)
        return parts


def _make(name: str, arguments: list[list[Substitution]], text: str) -> Substitution:
    if name not in substitution_parse_methods:
        raise RuntimeError(
            f"unknown substitution '{name}' in '{text}'; "
            f"known: {', '.join(sorted(substitution_parse_methods))}"
        )
    try:
        made, keywords = substitution_parse_methods[name](arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"'{text}' has the wrong arguments: {error}") from error
    substitution: Substitution = made(**keywords)
    return substitution
