"""The commands of `openral arm`. Importing this module does not import rclpy."""

from __future__ import annotations

from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE, NamespaceOption
from openral_core.process.operator_name import operator_name

app = typer.Typer(no_args_is_help=True, help="Take the arm from the policies, and give it back.")
Patience = Annotated[float, numbers.real("[s] to wait for the bridge.", least=0.1, most=600)]


@app.command()
def pause(patience: Patience = 5.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Bring the arm to rest; goals wait, and their clocks stand still, until `openral arm resume`.

    This is no emergency stop: nothing is latched, and a motion comes to rest within 0.15 s.
    """
    _intervene(take=True, patience=patience, namespace=namespace)


@app.command()
def resume(patience: Patience = 5.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Let the policies go on from what they see now; not while an operator steers the arm."""
    _intervene(take=False, patience=patience, namespace=namespace)


def _intervene(*, take: bool, patience: float, namespace: str) -> None:
    from openral_control.ros.intervene_client import intervene  # `openral --help` must not load rclpy

    done, message = intervene(take=take, operator=operator_name(), patience_s=patience, namespace=namespace)
    typer.echo(message, err=not done)
    raise typer.Exit(0 if done else 1)
