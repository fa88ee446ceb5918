"""The error of commands, and a check that raises it."""

from __future__ import annotations

import re


class CliError(Exception):
    """Something the user can fix: shown as one line, exit code 1."""


def check_patterns(*patterns: str) -> None:
    """Raise CliError for a text that is no regular expression."""
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise CliError(f"'{pattern}' is no regular expression: {error}") from error
