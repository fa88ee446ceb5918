"""Comparing what a process wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..asserts.text import ends_at

_DEFAULT_PREFIXES = ("pid", "rc")


def basic_output_filter(
    filtered_prefixes: Iterable[str] | None = None, filtered_patterns: Iterable[str] | None = None
) -> Callable[[str], str]:
    """Make a function that leaves out lines.

    Args:
        filtered_prefixes: lines that begin with one are left out; None: those that begin with `pid` or `rc`.
        filtered_patterns: regular expressions; lines in which one matches at the beginning are left out.
    """
    prefixes = tuple(_DEFAULT_PREFIXES if filtered_prefixes is None else filtered_prefixes)
    patterns = [re.compile(pattern) for pattern in filtered_patterns or ()]

    def keep(line: str) -> bool:
        return not line.startswith(prefixes) and not any(pattern.match(line) for pattern in patterns)

    return lambda text: "".join(line for line in text.splitlines(keepends=True) if keep(line))


def expect_output(
    *,
    expected_text: str | re.Pattern[str] | None = None,
    expected_lines: Iterable[str | re.Pattern[str]] | None = None,
    text: str | None = None,
    lines: Iterable[str] | None = None,
    strict: bool = False,
) -> bool:
    """Whether an output is as expected; give the text or its lines, and what is expected as one or the other.

    Args:
        expected_text, expected_lines: what must stand in the output; lines follow each other there.
        text, lines: the output.
        strict: whether nothing else may stand there.

    Raises:
        ValueError: both or none were given.
    """
    if (expected_text is None) == (expected_lines is None) or (text is None) == (lines is None):
        raise ValueError("give one of expected_text and expected_lines, and one of text and lines")
    output = text if text is not None else "\n".join(line.rstrip("\r\n") for line in lines or ())
    if expected_text is not None:
        if not strict:
            return ends_at(expected_text, output) is not None
        if isinstance(expected_text, re.Pattern):
            return expected_text.fullmatch(output) is not None
        return expected_text.rstrip("\n") == output.rstrip("\n")
    wanted, found = list(expected_lines or ()), output.splitlines()
    starts = range(len(found) - len(wanted) + 1)
    if strict:
        starts = range(1 if len(found) == len(wanted) else 0)
    return any(all(map(_fits, wanted, found[start:])) for start in starts)


def _fits(expected: str | re.Pattern[str], line: str) -> bool:
    return expected.match(line) is not None if isinstance(expected, re.Pattern) else expected == line


def expected_output_from_file(path: str, encoding: str | None = None) -> list[Any]:
    """The lines that a test expects: those of `<path>.txt`, or the expressions in those of `<path>.regex`.

    Raises:
        RuntimeError: there is neither file.
    """
    literal, regex = Path(f"{path}.txt"), Path(f"{path}.regex")
    if literal.is_file():
        return literal.read_text(encoding=encoding or "utf-8").splitlines()
    if regex.is_file():
        return [re.compile(line) for line in regex.read_text(encoding=encoding or "utf-8").splitlines()]
    raise RuntimeError(f"there is neither {literal} nor {regex}")
