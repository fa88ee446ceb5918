"""Every number on every command line is bounded, and one that makes no sense is refused before anything starts."""

from __future__ import annotations

import inspect
import io
import typing
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Annotated, Any, get_args, get_origin

import pytest
import typer
from typer.main import get_command
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from openral_cli.app import app
from openral_cli.plugins import GROUP

NEVER = ("nan", "NaN", "inf", "-inf", "1e400", "1e20", "-1e20", "99999999999", str(2**70), "-2", "twelve", "")
"""Refused of every number, whatever it counts: no kind of number reaches 1e11, or goes below -1."""
NOT_BELOW_ONE = {
    f"--{name}" for name in ("workers", "n-episodes", "episodes", "starts", "num-envs", "threads")
}
"""Of these, 0 makes no sense either."""
OPENRAL = get_command(app)
"""The command as it runs. It is made once: typer's test runner makes it anew for each call, ten times as slowly."""


@dataclass(frozen=True)
class Number:
    """A numeric option or argument of a command."""

    path: tuple[str, ...]
    name: str
    """The option's long name; empty for an argument."""
    kind: type
    info: ParameterInfo

    def __str__(self) -> str:
        return " ".join([*self.path, self.name or "<argument>"])


def commands(
    group: typer.Typer, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    """Yield every verb below a typer app with its path."""
    for found in group.registered_commands:
        assert found.callback is not None
        yield (*path, found.name or found.callback.__name__.replace("_", "-")), found.callback
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from commands(inner.typer_instance, (*path, str(inner.name)))


def every_command() -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    yield from commands(app)
    for entry in entry_points(group=GROUP):
        if not entry.value.startswith("openral_"):
            continue  # of another distribution
        target = entry.load()
        if isinstance(target, typer.Typer):
            yield from commands(target, (entry.name,))
        else:
            yield (entry.name,), target


def numbers_of(path: tuple[str, ...], verb: Callable[..., Any]) -> Iterator[Number]:
    for parameter in inspect.signature(verb, eval_str=True).parameters.values():
        hint, info = parameter.annotation, parameter.default
        if get_origin(hint) is Annotated:
            hint, info, *_ = get_args(hint)
        kinds = [kind for kind in (hint, *get_args(hint)) if kind in (int, float)]
        if not kinds:
            continue
        assert isinstance(info, (OptionInfo, ArgumentInfo)), (
            f"{' '.join(path)}: {parameter.name} has no bounds"
        )
        names = [
            name for name in typing.cast("tuple[str, ...]", info.param_decls or ()) if name.startswith("--")
        ]
        usual = "" if isinstance(info, ArgumentInfo) else f"--{parameter.name.replace('_', '-')}"
        yield Number(path, names[0] if names else usual, kinds[0], info)


NUMBERS = [number for path, verb in every_command() for number in numbers_of(path, verb)]


def refuses(number: Number, value: str) -> bool:
    """Whether a command ends with a usage error that is about this value, and with no traceback."""
    words = [f"{number.name}={value}"] if number.name else ["--", value]
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), pytest.raises(SystemExit) as ended:
        OPENRAL([*number.path, *words])
    output = said.getvalue()
    return (
        ended.value.code == 2 and "Invalid value" in output and (number.name or "Invalid value for") in output
    )


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which no message is broken into lines."""
    monkeypatch.setenv("COLUMNS", "300")


def test_the_commands_were_found() -> None:
    paths = {number.path[0] for number in NUMBERS}
    assert {
        "benchmark",
        "deploy",
        "memory",
        "mission",
        "prompt",
        "reward",
        "rskill",
        "scene",
        "sidecar",
        "sim",
    } <= paths
    assert {"train", "world-model", "reasoner"} <= paths
    assert len(NUMBERS) > 40


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_it_has_a_bound_on_both_sides(number: Number) -> None:
    assert number.info.min is not None
    assert number.info.max is not None


@pytest.mark.parametrize(
    "never", [("nan", "1e20", "-2"), pytest.param(NEVER, marks=pytest.mark.slow)], ids=["some", "all"]
)
@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_what_makes_no_sense_is_refused(number: Number, never: tuple[str, ...]) -> None:
    for value in (*never, *(["0", "-1"] if number.name in NOT_BELOW_ONE else [])):
        assert refuses(number, value), f"{number} took {value!r}"


@pytest.mark.parametrize("number", [n for n in NUMBERS if n.kind is int], ids=str)
def test_a_count_is_whole(number: Number) -> None:
    assert refuses(number, "1.5")
