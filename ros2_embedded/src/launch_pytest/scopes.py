"""The fixtures `event_loop`, `launch_service` and `launch_context`, with the scope that a module needs.

They last as long as the launch fixture of the module with the widest scope. Where that is wider than a
function's, the module gets fixtures of its own, unless it defines some by these names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from .fixture import LaunchFixture, launch_fixture_of

if TYPE_CHECKING:
    from launch import LaunchContext, LaunchService

MARK = "launch"
_SCOPES = ("function", "class", "module", "package", "session")


def event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The loop of the launch and of tests that are coroutines; a thread runs it while the launch lasts."""
    loop = asyncio.new_event_loop()
    yield loop
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def launch_service() -> LaunchService:
    """The service that runs the launch."""
    from launch import LaunchService

    return LaunchService(noninteractive=True)


def launch_context(launch_service: LaunchService) -> LaunchContext:
    """The state of the launch."""
    return launch_service.context


SHARED = (event_loop, launch_service, launch_context)


def share_fixtures(module: ModuleType, config: pytest.Config) -> None:
    """Give a module of tests, or of fixtures, fixtures with the scope that it needs."""
    scopes = {fixture.scope_in(config) for fixture in _launch_fixtures(module, set())}
    widest = max(scopes, key=_SCOPES.index, default=_SCOPES[0])
    if widest == _SCOPES[0]:
        return
    for function in SHARED:
        if not hasattr(module, function.__name__):
            shared: Any = pytest.fixture(name=function.__name__, scope=widest)(function)  # type: ignore[call-overload]
            setattr(module, f"_launch_pytest_{function.__name__}", shared)


def marks_of(value: object) -> list[pytest.Mark]:
    """The marks of a function, class or module."""
    found = getattr(value, "pytestmark", [])
    marks = (getattr(mark, "mark", mark) for mark in (found if isinstance(found, list) else [found]))
    return [mark for mark in marks if isinstance(mark, pytest.Mark)]


def _launch_fixtures(value: object, seen: set[int]) -> Iterator[LaunchFixture]:
    """The launch fixtures that a module, class or function is, has, or names in a mark."""
    if id(value) in seen:
        return
    seen.add(id(value))
    named = [value]
    if isinstance(value, (ModuleType, type, FunctionType)):
        named += [mark.kwargs.get("fixture") for mark in marks_of(value) if mark.name == MARK]
    yield from filter(None, map(launch_fixture_of, named))
    owners = value.__mro__ if isinstance(value, type) else [value] if isinstance(value, ModuleType) else []
    for owner in owners:
        for member in list(vars(owner).values()):
            if not isinstance(member, ModuleType):
                yield from _launch_fixtures(member, seen)
