"""The error of commands."""

from __future__ import annotations


class CliError(Exception):
    """Something the user can fix: shown as one line, exit code 1."""
