"""The commands of `openral data record`. Importing this module does not import rclpy."""

from __future__ import annotations

from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE, NamespaceOption

Patience = Annotated[float, numbers.seconds("Seconds to wait for a recorder.")]

record = typer.Typer(help="Tell the running recorder what to do.", no_args_is_help=True)


@record.command()
def start(patience: Patience = 15.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Begin an episode that lasts until `stop`."""
    _order("start", patience, namespace)


@record.command()
def stop(patience: Patience = 15.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """End the episode and keep it."""
    _order("stop", patience, namespace)


@record.command()
def discard(patience: Patience = 15.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Throw away the episode that is being recorded; `start` records it again."""
    _order("discard", patience, namespace)


@record.command()
def highlight(patience: Patience = 15.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Keep the last half minute as an episode (strategy highlight)."""
    _order("highlight", patience, namespace)


@record.command()
def mark(
    outcome: Annotated[str, typer.Argument(help="success, failure or unknown.")],
    patience: Patience = 15.0,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Say how the episode that is being recorded ends, or how the last one ended."""
    _order("mark", patience, namespace, outcome)


@record.command()
def status(patience: Patience = 15.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Print what the recorder does, what it dropped, and why it does not record."""
    from openral_data.ros.record_client import show_status

    raise typer.Exit(show_status(patience, namespace))


def _order(name: str, patience: float, namespace: str, outcome: str = "") -> None:
    from openral_data.ros.record_client import order  # `openral --help` must not load rclpy

    raise typer.Exit(order(name, patience, namespace, outcome))
