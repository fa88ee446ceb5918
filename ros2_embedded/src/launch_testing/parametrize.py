"""One test file for several values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
_MARK = "__parametrized__"


def parametrize(argnames: str | Sequence[str], argvalues: Iterable[Any]) -> Callable[[Function], Function]:
    """Run the whole test once for each value.

    The values reach `generate_test_description`, and the tests that name them among their arguments.

    Args:
        argnames: one name, or several as a list or with commas between them.
        argvalues: the values; for several names each is a sequence of as many.
    """
    names = argnames.replace(",", " ").split() if isinstance(argnames, str) else list(argnames)
    values = [tuple(value) if len(names) > 1 else (value,) for value in argvalues]

    def mark(function: Function) -> Function:
        added = [dict(zip(names, value, strict=True)) for value in values]
        known = parameters_of(function)
        setattr(function, _MARK, [{**one, **other} for one in added for other in known])
        return function

    return mark


def parameters_of(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """The arguments of each run; one without arguments for a function that is not parametrized."""
    found: list[dict[str, Any]] = getattr(function, _MARK, [{}])
    return found
