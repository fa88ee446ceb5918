"""Faults from outside on an installed deployment. Each test prints its figure; `--figures FILE` writes them down.

All are slow tests; `--long` (tests/conftest.py) runs the half that takes hours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
for _folder in ("system", "faults", "sidecar", "rskill", "policy_nodes"):
    if str(HERE.parent / _folder) not in sys.path:
        sys.path.append(str(HERE.parent / _folder))

from faults_deployment import Deployed, Keeper  # noqa: E402  they lie in the folders above
from faults_figures import Figure, write_figures  # noqa: E402
from system_order import put_first  # noqa: E402

FIGURES = pytest.StashKey[list[Figure]]()
KEEPER = pytest.StashKey[Keeper]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--figures", type=Path, help="write what the tests of faults found to this file")


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Return a function that records a figure; its keywords are the fields of `Figure` except `test`."""
    figures = request.config.stash.setdefault(FIGURES, [])
    test = f"{request.path.name}::{request.node.name}"
    return lambda **fields: figures.append(Figure(test=test, **fields))


@pytest.fixture(scope="session")
def _keeper(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeper]:
    with Keeper(tmp_path_factory) as keeper:
        request.config.stash[KEEPER] = keeper
        yield keeper


def shares(item: pytest.Item | None) -> bool:
    """Whether a test of this folder uses the deployment that tests share."""
    return item is not None and HERE in item.path.parents and "shared" in getattr(item, "fixturenames", ())


def ends(item: pytest.Item) -> bool:
    """Whether a test of this folder ends the deployment that tests share."""
    return shares(item) and "shared_at_last" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all of this folder as slow, before tests/conftest.py chooses.

    Put those that share a deployment first, so that it need not run beside the others, and last what ends it.
    """
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
    put_first(items, HERE, ends)
    put_first(items, HERE, lambda item: shares(item) and not ends(item))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the shared deployment with the last test that uses it."""
    keeper = item.config.stash.get(KEEPER, None)
    if keeper is not None and not shares(nextitem):
        keeper.close()


@pytest.fixture
def shared(_keeper: Keeper) -> Iterator[Deployed]:
    """The deployment that most tests share: at rest, all faults off. One that did not survive a test is replaced."""
    deployed = _keeper.get()
    yield deployed
    _keeper.rest()


@pytest.fixture
def shared_at_last(shared: Deployed) -> Deployed:
    """The same, for a test that ends it: it comes behind the others."""
    return shared


def pytest_terminal_summary(config: pytest.Config) -> None:
    figures = sorted(config.stash.get(FIGURES, []), key=lambda figure: figure.row)
    if not figures:
        return
    table = Table("row", "injected", "times", "what happened", "worst", "bar", "lost", title="faults")
    for found in figures:
        cells = (str(found.row), found.injected, str(found.times), found.happened)
        table.add_row(*cells, found.worst_text, found.bar, found.lost)
    Console(width=160).print(table)
    path: Path | None = config.getoption("--figures", None)
    if path is not None:
        write_figures(path, "long" if config.getoption("--long", False) else "quick", figures)
