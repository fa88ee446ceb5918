"""Checks a server's arguments in openral's interpreter, before its environment is built, which takes minutes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NoReturn

from openral_core.errors import SidecarError, UsageError
from openral_sidecar.environment.spec import SidecarSpec


def check_arguments(spec: SidecarSpec, arguments: Sequence[str]) -> None:
    """Parse arguments, whose names must be whole, with the server's parser; `--help` prints its help and ends here.

    Args:
        spec: of the server; without a parser nothing is checked.
        arguments: arguments of the server's family.

    Raises:
        UsageError: the server would reject the arguments.
        SidecarError: a file or folder in them does not exist, or the parser cannot be imported.
    """
    if not spec.parser:
        return
    try:
        parser: argparse.ArgumentParser = EntryPoint(spec.name, spec.parser, "").load()()
    except (ImportError, AttributeError) as error:
        raise SidecarError(
            f"sidecar {spec.name}: its parser {spec.parser} cannot be imported: {error}; fix its spec"
        ) from error
    parser.allow_abbrev = False  # the licence gate and a server's identity know whole names only
    parser.prog = f"openral sidecar start {spec.name} --"

    def refuse(message: str) -> NoReturn:
        raise UsageError(f"sidecar {spec.name}: {message}; `{parser.prog} --help` says what it takes")

    vars(parser)["error"] = refuse  # argparse would print its usage and exit
    for name, value in vars(parser.parse_args(list(arguments))).items():
        if isinstance(value, Path) and not value.exists():
            raise SidecarError(
                f"sidecar {spec.name}: --{name.replace('_', '-')} {value}: no such file or folder"
            )
