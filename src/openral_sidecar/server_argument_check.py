"""A look at a server's own arguments in our interpreter, before its environment is built, which takes minutes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NoReturn

from openral_core.errors import SidecarError, UsageError
from openral_sidecar.environment.spec import SidecarSpec


def check_arguments(spec: SidecarSpec, arguments: Sequence[str]) -> None:
    """Parse them as the server will; `--help` among them prints what it takes, and ends the process.

    Args:
        spec: of the server; one without a parser is not asked.
        arguments: the family's own.

    Raises:
        UsageError: the server would not take them.
        SidecarError: a file or folder that they name is not there, or the parser cannot be imported.
    """
    if not spec.parser:
        return
    try:
        parser: argparse.ArgumentParser = EntryPoint(spec.name, spec.parser, "").load()()
    except (ImportError, AttributeError) as error:
        raise SidecarError(
            f"sidecar {spec.name}: its parser {spec.parser} cannot be imported: {error}; fix its spec"
        ) from error
    parser.prog = f"openral sidecar start {spec.name} --"

    def refuse(message: str) -> NoReturn:
        raise UsageError(f"sidecar {spec.name}: {message}; `{parser.prog} --help` says what it takes")

    vars(parser)["error"] = refuse  # argparse would print its usage and exit
    for name, value in vars(parser.parse_args(list(arguments))).items():
        if isinstance(value, Path) and not value.exists():
            raise SidecarError(
                f"sidecar {spec.name}: --{name.replace('_', '-')} {value}: no such file or folder"
            )
