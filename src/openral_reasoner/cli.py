"""The verb `openral prompt`; light to import, rclpy comes in when it runs."""

from __future__ import annotations

from typing import Annotated

import typer


def prompt(
    sentence: Annotated[
        str, typer.Argument(help="What to do, in plain words; 'stop' stops the running mission.")
    ],
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a reasoner to take the sentence.")
    ] = 5.0,
) -> None:
    """Say a sentence to the running reasoner and follow its mission.

    Exit code 0: the mission was done. 1: it failed, was stopped or replaced. 2: no reasoner took the sentence.
    """
    from openral_reasoner.prompt_node import converse  # `openral --help` must not load rclpy

    raise typer.Exit(converse(sentence, patience))


if __name__ == "__main__":
    typer.run(prompt)
