"""The decorator of functions that describe a launch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import pytest

_TAG = "_launch_pytest_fixture"
_NEEDED = ("request", "launch_service", "event_loop")


@dataclass(frozen=True)
class LaunchFixture:
    """What is known of a fixture before it is set up.

    Attributes:
        name: by which tests ask for it.
        scope: how long its launch lasts; a name, or a function that returns one, as in `pytest.fixture`.
        shutdown_when_idle: whether the launch ends by itself when nothing is left to do.
        auto_shutdown: whether the launch is shut down after the last test beside it.
    """

    name: str
    scope: str | Callable[..., str] = "function"
    shutdown_when_idle: bool = True
    auto_shutdown: bool = True

    def scope_in(self, config: pytest.Config) -> str:
        """The name of the scope."""
        return self.scope(fixture_name=self.name, config=config) if callable(self.scope) else self.scope


def fixture(
    decorated: Callable[..., Any] | None = None,
    *,
    shutdown_when_idle: bool = True,
    auto_shutdown: bool = True,
    **kwargs: Any,
) -> Any:
    """Decorate a function that returns what to launch: a `LaunchDescription`, or a sequence that begins with
    one and goes on with whatever the tests need. Tests that ask for the fixture get what it returns.

    Args:
        decorated: the function; None where the decorator has arguments.
        shutdown_when_idle: whether the launch ends by itself when nothing is left to do.
        auto_shutdown: whether the launch is shut down after the last test beside it. Otherwise the test run
            waits for its end.
        kwargs: arguments of `pytest.fixture`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        name = kwargs.get("name") or function.__name__
        described = LaunchFixture(name, kwargs.get("scope", "function"), shutdown_when_idle, auto_shutdown)
        launching: Any = _launching(getattr(function, "__func__", function), described)
        if isinstance(function, classmethod):
            launching = classmethod(launching)
        setattr(launching, _TAG, described)
        return pytest.fixture(**kwargs)(launching)

    return decorate if decorated is None else decorate(decorated)


def launch_fixture_of(value: object) -> LaunchFixture | None:
    """What is known of a decorated function; None for anything else."""
    try:
        found = getattr(value, _TAG, None)
    except Exception:  # noqa: BLE001 modules hold objects of any kind
        return None
    return found if isinstance(found, LaunchFixture) else None


def _launching(function: Callable[..., Any], described: LaunchFixture) -> Callable[..., Iterator[Any]]:
    """The function as a fixture that launches what it returns and ends the launch afterwards."""
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    wanted = {one.name for one in own}
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in _NEEDED if name not in wanted
    ]

    @functools.wraps(function)
    def launching(*args: Any, **kwargs: Any) -> Iterator[Any]:
        from .launched import launched

        request, service, loop = (kwargs[name] for name in _NEEDED)
        given = {name: value for name, value in kwargs.items() if name in wanted}
        with (
            _called(function, args, given) as value,
            launched(described, value, request.session, service, loop),
        ):
            yield value

    launching.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    return launching


def _called(function: Callable[..., Any], args: Any, kwargs: Any) -> AbstractContextManager[Any]:
    """What the function returns or, as other fixtures do, yields."""
    if inspect.isgeneratorfunction(function):
        return contextmanager(function)(*args, **kwargs)
    return nullcontext(function(*args, **kwargs))
