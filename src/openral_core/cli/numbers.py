"""The numbers that commands take: one kind of option for each kind of number, with bounds on both sides.

    workers: Annotated[int, numbers.workers("Processes with worlds.")] = 1

A value out of bounds is a usage error (exit code 2) before anything starts. NaN lies on neither side of a bound, so
that numbers with a fraction are asked whether they are finite, too.
"""

from __future__ import annotations

import math
from typing import Any

import typer

MAX_WORKERS = 1024
"""Processes; more than any machine or cluster of this kind of work has cores."""
MAX_COUNT = 1_000_000
"""Episodes, states, rows, films: what a run could list within a lifetime."""
MAX_STEPS = 1_000_000_000
"""Control steps and optimiser steps."""
MAX_32 = 2**31 - 1
"""Seeds and initial states travel as int32 in ROS messages, simulators and datasets."""
MAX_SECONDS = 1e6
"""[s] eleven days."""


def workers(about: str, *names: str) -> Any:
    """Return the option of a number of processes or threads, at least 1."""
    return typer.Option(*names, min=1, max=MAX_WORKERS, help=about)


def count(about: str, *names: str, least: int = 1) -> Any:
    """Return the option of a number of episodes, states, rows or other things that are listed."""
    return typer.Option(*names, min=least, max=MAX_COUNT, help=about)


def steps(about: str, *names: str, least: int = 1) -> Any:
    """Return the option of a number of control steps or optimiser steps."""
    return typer.Option(*names, min=least, max=MAX_STEPS, help=about)


def seed(about: str = "Of everything that is drawn.", *names: str) -> Any:
    """Return the option of a seed, 0 to 2^31 - 1."""
    return typer.Option(*names, min=0, max=MAX_32, help=about)


def initial_state(about: str, *names: str) -> Any:
    """Return the option of an initial state, 0 to 2^31 - 1; -1: the scene's own."""
    return typer.Option(*names, min=-1, max=MAX_32, help=about)


def port(about: str = "0: a free one.", *names: str) -> Any:
    """Return the option of a TCP port."""
    return typer.Option(*names, min=0, max=65535, help=about)


def seconds(about: str, *names: str, least: float = 0.0) -> Any:
    """Return the option of a span of time [s]."""
    return real(about, *names, least=least, most=MAX_SECONDS)


def real(about: str, *names: str, least: float, most: float) -> Any:
    """Return the option of a finite number between two bounds, both of them allowed."""
    return typer.Option(*names, min=least, max=most, help=about, callback=_finite)


def _finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value
