"""How tests with the mark run: beside the launch, after it, or first one and then the other."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from .fixture import launch_fixture_of
from .launched import Launched, launch_of
from .scopes import MARK

SECOND = "[shutdown_test]"
"""The end of the name of a generator's second part, where that is an item of its own."""
_GENERATORS = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
_PARTS = pytest.StashKey["Parts"]()


def is_generator(function: object) -> bool:
    """Whether the test has a part after its `yield`."""
    return any(kind(function) for kind in _GENERATORS)


class Parts:
    """A generator that is a test: the part before its `yield`, and the one after it.

    Args:
        generator: or async generator.
        launch: in whose loop an async generator runs.
    """

    def __init__(self, generator: Any, launch: Launched) -> None:
        self._generator, self.launch = generator, launch
        self.yielded = False

    def first(self) -> None:
        """Run the part beside the launch."""
        self.yielded = self._step()

    def second(self) -> None:
        """Shut the launch down, and run the rest."""
        self.launch.finish()
        if self.yielded and self._step():
            pytest.fail("a launch test must stop iteration after yielding once", pytrace=False)

    def _step(self) -> bool:
        """Whether the generator yielded once more."""
        if inspect.isasyncgen(self._generator):
            return bool(self.launch.run(_step(self._generator)))
        try:
            next(self._generator)
        except StopIteration:
            return False
        return True


async def _step(generator: Any) -> bool:
    try:
        await generator.__anext__()
    except StopAsyncIteration:
        return False
    return True


class SecondPart(pytest.Item):
    """The part of a generator after its `yield`, where other tests use the same launch in between.

    Args:
        first: the item that runs the part before.
    """

    def __init__(self, *, first: pytest.Function, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = first
        self.own_markers.extend(first.own_markers)
        self.keywords.update({mark.name: mark for mark in first.own_markers})

    def runtest(self) -> None:
        """Go on after the `yield`."""
        parts = self.first.stash.get(_PARTS, None)
        if parts is None or not parts.yielded:
            pytest.skip(f"{self.first.name} did not come to its yield")
        parts.second()

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where the test is."""
        path, line, name = self.first.reportinfo()
        return path, line, name + SECOND

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Print what failed as for the first part."""
        return self.first.repr_failure(excinfo)


def run_test(item: pytest.Function, mark: pytest.Mark) -> bool:
    """Run a test that has the mark; returns whether that was done."""
    fixture = launch_fixture_of(mark.kwargs.get("fixture"))
    if fixture is None:
        return False
    after = bool(mark.kwargs.get("shutdown", False))
    if after and is_generator(item.obj):
        pytest.fail(
            "a generator or async generator cannot be marked with shutdown=True: what follows its yield runs "
            "after shutdown",
            pytrace=False,
        )
    launch = launch_of(item.session, fixture.name)
    if after:
        launch.finish()
    elif launch.finished:
        pytest.fail(
            f"the launch of fixture '{fixture.name}' was shut down before this test, which runs beside it",
            pytrace=False,
        )
    outcome = item.obj(**{name: item.funcargs[name] for name in item._fixtureinfo.argnames})
    if inspect.isawaitable(outcome):
        launch.run(outcome)
    elif is_generator(item.obj):
        parts = item.stash[_PARTS] = Parts(outcome, launch)
        parts.first()
        if not has_second_item(item):
            parts.second()
    return True


def has_second_item(item: pytest.Function) -> bool:
    """Whether what follows the `yield` is an item of its own, as other tests use the launch as well."""
    mark = item.get_closest_marker(MARK)
    fixture = launch_fixture_of(mark.kwargs.get("fixture")) if mark is not None else None
    if fixture is None or not is_generator(item.obj) or mark is None or mark.kwargs.get("shutdown", False):
        return False
    scope = fixture.scope_in(item.config)
    return scope != "function" and (scope != "class" or item.cls is not None)
