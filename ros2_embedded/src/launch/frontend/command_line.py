"""Command lines in markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..substitution import Substitution

if TYPE_CHECKING:
    from .parser import Parser


def parse_command_line(text: str, parser: Parser) -> list[list[Substitution]]:
    """Return the words of a command line, each as substitutions.

    Blanks separate words; quotes keep blanks together, a backslash keeps one character. What a substitution
    yields is never split.

    Raises:
        ValueError: a quote is not closed.
    """
    from ..substitutions.text_substitution import TextSubstitution

    words: list[list[Substitution]] = []
    word: list[Substitution] | None = None
    quote = ""
    for part in parser.parse_substitution(text):
        if not isinstance(part, TextSubstitution):
            word = [*(word or []), part]
            continue
        plain = ""
        characters = iter(part.text)
        for character in characters:
            if not quote and character.isspace():
                if plain:
                    word = [*(word or []), TextSubstitution(text=plain)]
                if word is not None:
                    words.append(word)
                word, plain = None, ""
            elif character == quote:
                quote = ""
            elif not quote and character in "'\"":
                quote = character
                word = word or []  # '' is a word too
            else:
                plain += next(characters, "\\") if character == "\\" and quote != "'" else character
        if plain:
            word = [*(word or []), TextSubstitution(text=plain)]
    if quote:
        raise ValueError(f"missing {quote} in command line {text!r}")
    return words if word is None else [*words, word]
