"""The plug-in of pytest: runs tests with the mark `launch` beside and after the launch of a fixture."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .fixture import launch_fixture_of
from .scopes import MARK, SHARED, marks_of, share_fixtures

_MENTIONED = re.compile(rf"launch_pytest|mark\.{MARK}\b")
_WITHOUT_FIXTURE = f'"fixture" keyword argument is required in @pytest.mark.{MARK}(fixture=...)'

event_loop, launch_service, launch_context = (pytest.fixture(function) for function in SHARED)


class LaunchTestWarning(pytest.PytestWarning):
    """A test with the mark cannot run."""


class LaunchModule(pytest.Module):
    """A file that may have tests with the mark."""

    def collect(self) -> Iterable[Any]:
        """Collect its tests, once it has the fixtures that they need."""
        share_fixtures(self.obj, self.config)
        return super().collect()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, and give fixtures to files of fixtures."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(fixture, shutdown=False): the test runs beside the launch that the fixture describes, or "
        "after it with shutdown=True",
    )
    config.pluginmanager.register(_Outermost(config), "launch_pytest_outermost")


@dataclass(frozen=True)
class _Made:
    """Tests on their way to pytest: plug-ins for coroutines would take those that are coroutines."""

    items: list[pytest.Item]


class _Outermost:
    """Hooks that come before those of all plug-ins, as they are registered last."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_plugin_registered(self, plugin: object) -> None:
        """Share the fixtures of a `conftest.py` before pytest looks at them."""
        if isinstance(plugin, ModuleType) and Path(plugin.__file__ or "").name == "conftest.py":
            share_fixtures(plugin, self._config)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pycollect_makeitem(self) -> Generator[None, Any, Any]:
        """Hand over what `pytest_pycollect_makeitem` below made."""
        made = yield
        first = made[0] if isinstance(made, list) and made else made
        return first.items if isinstance(first, _Made) else made


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the files that may have tests with the mark."""
    if not _MENTIONED.search(module_path.read_text(encoding="utf-8", errors="replace")):
        return None
    found: pytest.Collector = LaunchModule.from_parent(parent, path=module_path)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> _Made | None:
    """Make the tests of functions with the mark; generators are among them."""
    function = getattr(obj, "__func__", obj)
    if not inspect.isfunction(function) or not collector.istestfunction(obj, name):
        return None
    own = [mark for mark in marks_of(function) if mark.name == MARK]
    mark = own[0] if own else collector.get_closest_marker(MARK)
    if mark is None or not getattr(function, "__test__", True):
        return None
    from .items import SECOND, SecondPart, has_second_item

    fixture = launch_fixture_of(mark.kwargs.get("fixture"))
    if fixture is not None:
        added = pytest.mark.usefixtures(fixture.name)
    elif mark.kwargs.get("fixture") is None:
        warnings.warn_explicit(
            LaunchTestWarning(f"{_WITHOUT_FIXTURE} of {name}"),
            category=None,
            filename=function.__code__.co_filename,
            lineno=function.__code__.co_firstlineno,
        )
        added = pytest.mark.skip(reason=_WITHOUT_FIXTURE)
    else:
        raise collector.CollectError(
            f"{name}: the fixture of its mark '{MARK}' must be a function decorated with "
            f"@launch_pytest.fixture, not {mark.kwargs['fixture']!r}"
        )
    items: list[pytest.Item] = []
    with _marked(function, added):
        for item in collector._genfunctions(name, function):
            items.append(item)
            if has_second_item(item):
                items.append(SecondPart.from_parent(item.parent, name=item.name + SECOND, first=item))
    return _Made(items)


@contextmanager
def _marked(function: Any, mark: pytest.MarkDecorator) -> Iterator[None]:
    """Mark a function for as long as its items are made: other classes may inherit it with other marks."""
    before = function.__dict__.get("pytestmark")
    mark(function)
    try:
        yield
    finally:
        if before is None:
            del function.pytestmark
        else:
            function.pytestmark = before


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move tests after a launch behind those beside it."""
    if any(item.get_closest_marker(MARK) for item in items):
        from .order import in_order

        items[:] = in_order(items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test with the mark."""
    mark = pyfuncitem.get_closest_marker(MARK)
    if mark is None:
        return None
    from .items import run_test

    return run_test(pyfuncitem, mark) or None
