"""The order of tests that share a launch: first all that run beside it, then all that run after it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from .fixture import launch_fixture_of
from .items import SecondPart
from .scopes import MARK


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Move what runs after a launch behind the last test that runs beside it; all else stays."""
    last: dict[Hashable, pytest.Item] = {}
    after: dict[Hashable, list[pytest.Item]] = {}
    for item in items:
        launch = _launch_of(item)
        if launch is not None and _runs_after(item):
            after.setdefault(launch, []).append(item)
        elif launch is not None:
            last[launch] = item
    moved = {item for launch, group in after.items() if launch in last for item in group}
    ends = {item: after.get(launch, []) for launch, item in last.items()}
    return [placed for item in items if item not in moved for placed in (item, *ends.get(item, ()))]


def _runs_after(item: pytest.Item) -> bool:
    mark = item.get_closest_marker(MARK)
    return isinstance(item, SecondPart) or (mark is not None and bool(mark.kwargs.get("shutdown", False)))


def _launch_of(item: pytest.Item) -> Hashable | None:
    """What two tests have in common if they share a launch; None for a test with none or one of its own."""
    mark = item.get_closest_marker(MARK)
    fixture = launch_fixture_of(mark.kwargs.get("fixture")) if mark is not None else None
    if fixture is None:
        return None
    test: Any = item.first if isinstance(item, SecondPart) else item
    module, scope = test.getparent(pytest.Module), fixture.scope_in(item.config)
    owners = {
        "class": test.getparent(pytest.Class),
        "module": module,
        "package": item.path.parent,
        "session": item.session,
    }
    owner = owners.get(scope)
    callspec = getattr(test, "callspec", None)
    number = callspec.indices.get(fixture.name) if callspec is not None else None
    return None if owner is None else (fixture.name, owner, number)
