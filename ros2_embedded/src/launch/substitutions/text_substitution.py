"""Plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class TextSubstitution(Substitution):
    """Text that stands for itself."""

    def __init__(self, *, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution takes text, found {type(text).__name__}: {text!r}")
        self.__text = text

    @property
    def text(self) -> str:
        """The text."""
        return self.__text

    def describe(self) -> str:
        """Return the text in quotes."""
        return f"'{self.__text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.__text
