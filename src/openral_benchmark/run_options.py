"""The options that `openral benchmark run` and `scene` share: which policy to evaluate, and how."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from openral_core.cli import numbers
from openral_rskill.cli.completion import skills


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Which policy to evaluate, and how."""

    rskill: Annotated[
        str, typer.Option(autocompletion=skills, help="Name, reference or folder of a skill.")
    ] = ""
    policy_url: Annotated[
        str,
        typer.Option(
            help="A policy that is served elsewhere: ws://host:port as openpi, zmq://host:port as RLDX-1 or GR00T."
        ),
    ] = ""
    contract: Annotated[
        str, typer.Option(help="What that policy takes and gives: a name in suites/contracts, or a file.")
    ] = ""
    n_episodes: Annotated[int | None, numbers.count("A task; default: as the suite says.")] = None
    workers: Annotated[int | None, numbers.workers("Processes with worlds; default: one a core.")] = None
    policies: Annotated[
        int | None,
        numbers.workers(
            "Processes with the policy; default: one a worker if there are more than two, half as many on a GPU."
        ),
    ] = None
    cluster: Annotated[
        str,
        typer.Option(help="local: this machine; auto: the Ray cluster it belongs to; or ray://host:port."),
    ] = "local"
    num_envs: Annotated[int, numbers.workers("Worlds under one batch; changes rows slightly.")] = 8
    answer_delay: Annotated[
        int, numbers.count("Frames from an observation until its chunk is executed.", least=0)
    ] = 0
    picture_delay: Annotated[
        int, numbers.count("Frames by which pictures are older than the proprioception.", least=0)
    ] = 0
    device: Annotated[str, typer.Option(help="Where the policy infers: cpu, cuda.")] = "cpu"
    out: Annotated[Path | None, typer.Option(help="Folder; default: runs/<suite>-<skill>.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the rows that are there.")] = False
    patience: Annotated[
        float, numbers.seconds("Seconds of silence after which worlds or policy are cut off.", least=1.0)
    ] = 300.0
    videos: Annotated[
        int, numbers.count("Films of the first so many successes and failures of each task.", least=0)
    ] = 0
    allow_unevaluated: Annotated[
        bool, typer.Option("--allow-unevaluated", help="Run tasks that it was not evaluated on.")
    ] = False

    def check(self) -> None:
        """Check that the options name exactly one policy.

        Raises:
            BadParameter: they do not.
        """
        if bool(self.rskill) == bool(self.contract):
            raise typer.BadParameter(
                "name --rskill, or --contract with --policy-url for a policy that is served elsewhere"
            )
        if self.rskill and self.policy_url:
            raise typer.BadParameter(
                "--policy-url needs --contract, which says what the server takes and gives, and no --rskill"
            )


def with_run_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which the fields of `RunOptions` replace the parameter `options` of a function."""
    names = [field.name for field in fields(RunOptions)]

    @wraps(verb)
    def command(**given: Any) -> None:
        options = RunOptions(**{name: given.pop(name) for name in names})
        options.check()
        verb(options=options, **given)

    annotations = get_type_hints(RunOptions, include_extras=True)
    signature = inspect.signature(verb, eval_str=True)
    own = [part for name, part in signature.parameters.items() if name != "options"]
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=annotations[field.name],
        )
        for field in fields(RunOptions)
    ]
    command.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return command
