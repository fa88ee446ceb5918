"""The verbs `openral data record`; light to import, rclpy comes in when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from openral_core.cli import numbers

Patience = Annotated[float, numbers.seconds("Seconds to wait for a recorder.")]

record = typer.Typer(help="Tell the running recorder what to do.", no_args_is_help=True)


@record.command()
def start(patience: Patience = 15.0) -> None:
    """Begin an episode that lasts until `stop`."""
    _order("start", patience)


@record.command()
def stop(patience: Patience = 15.0) -> None:
    """End the episode and keep it."""
    _order("stop", patience)


@record.command()
def discard(patience: Patience = 15.0) -> None:
    """Throw away the episode that is being recorded; `start` records it again."""
    _order("discard", patience)


@record.command()
def highlight(patience: Patience = 15.0) -> None:
    """Keep the last half minute as an episode (strategy highlight)."""
    _order("highlight", patience)


@record.command()
def mark(
    outcome: Annotated[str, typer.Argument(help="success, failure or unknown.")], patience: Patience = 15.0
) -> None:
    """Say how the episode that is being recorded ends, or how the last one ended."""
    _order("mark", patience, outcome)


@record.command()
def status(patience: Patience = 15.0) -> None:
    """Print what the recorder does, what it dropped, and why it does not record."""
    from openral_data.ros.record_client import show_status

    raise typer.Exit(show_status(patience))


def _order(name: str, patience: float, outcome: str = "") -> None:
    from openral_data.ros.record_client import order  # `openral --help` must not load rclpy

    raise typer.Exit(order(name, patience, outcome))
