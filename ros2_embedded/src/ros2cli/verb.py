"""The base of verbs, for the plug-ins of other packages."""

from __future__ import annotations

import argparse
from typing import Any

from .plugin_system import PLUGIN_SYSTEM_VERSION, satisfies_version

__all__ = ["PLUGIN_SYSTEM_VERSION", "VerbExtension", "satisfies_version"]


class VerbExtension:
    """A verb: `add_arguments` declares what it takes, `main` does its work."""

    NAME: str | None = None
    EXTENSION_POINT_VERSION = "0.1"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        """Add the arguments; none here."""

    def main(self, *, args: Any) -> int | str | None:
        """Do the work and return the exit code.

        Raises:
            NotImplementedError: a verb must say what it does.
        """
        raise NotImplementedError
