"""`openral doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from openral_core.cli.tables import print_gates


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Check this machine: Python, ROS runtime, rendering, torch, disk, network, skills."""
    from openral_cli.doctor import examine

    checks = examine()
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        print_gates([(check.name, check.ok, check.found, check.fix) for check in checks])
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
