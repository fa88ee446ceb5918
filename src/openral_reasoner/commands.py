"""The verbs `openral prompt` and `openral mission`; light to import, rclpy comes in when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE, NamespaceOption

Patience = Annotated[float, numbers.real("[s] to wait for a reasoner.", least=0.1, most=600)]

mission = typer.Typer(help="See the reasoner's mission, its log, and stop it.", no_args_is_help=True)


def prompt(
    sentence: Annotated[
        str, typer.Argument(help="What to do, in plain words; 'stop' stops every motion; or an answer.")
    ],
    patience: Patience = 5.0,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Say a sentence to the running reasoner and follow its mission; a question of the reasoner is answered so, too.

    Exit code 0: the mission was done. 1: it failed, was stopped, replaced or refused. 2: no reasoner took the sentence,
    or it went away. 130: Ctrl-C; a mission goes on without it.
    """
    from openral_reasoner.ros.prompt_client import converse  # `openral --help` must not load rclpy

    raise typer.Exit(converse(sentence, patience, namespace))


@mission.command()
def show(
    patience: Patience = 5.0,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON in place of the table.")] = False,
) -> None:
    """Print the mission: its tasks, how often each was tried, and why it ended."""
    from openral_reasoner.ros import mission_client as mission_node

    raise typer.Exit(mission_node.show(patience, namespace, json))


@mission.command()
def watch(patience: Patience = 5.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Follow the mission until it has ended. Exit code 0: it was done. 130: Ctrl-C."""
    from openral_reasoner.ros import mission_client as mission_node

    raise typer.Exit(mission_node.watch(patience, namespace))


@mission.command()
def log(
    patience: Patience = 5.0,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
) -> None:
    """Print every step of the mission with its reason."""
    from openral_reasoner.ros import mission_client as mission_node

    raise typer.Exit(mission_node.log(patience, namespace, follow))


@mission.command()
def cancel(patience: Patience = 5.0, namespace: NamespaceOption = DEFAULT_NAMESPACE) -> None:
    """Stop the mission, and whatever else moves the arm."""
    from openral_reasoner.ros import mission_client as mission_node

    raise typer.Exit(mission_node.cancel(patience, namespace))


if __name__ == "__main__":
    app = typer.Typer()
    app.command()(prompt)
    app.add_typer(mission, name="mission")
    app()
