"""A browser, a deployment with its console, and the pages that look at it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).parent
for _folder in ("system", "console", "fleet"):
    if str(HERE.parent / _folder) not in sys.path:
        sys.path.append(str(HERE.parent / _folder))

from console_browser import CHROMIUM, PLAIN, WIDE, open_page, url_of  # noqa: E402  they lie in the folders above
from system_operator import ENDED, Operator  # noqa: E402
from system_order import put_first  # noqa: E402
from system_stack import Stack  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

LAUNCH = ("scene:=metaworld_drawer", "mission:=close the drawer", "exit_when_done:=false")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Without WebGL. Closed after each module: while Playwright is open, no test may start another event loop."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    pytest.importorskip("nicegui", reason="pip install 'openral[console]'")
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH: apt install chromium")
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=PLAIN)
        yield opened
        opened.close()


class SharedDeployment:
    """One deployment of a drawer with its console, for all modules of this folder that look at it."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._stack: Stack | None = None

    def running(self, folder: Callable[[str], Path]) -> Stack:
        """Return it; start it where it does not run."""
        if self._stack is None or not self._stack.running:
            self.close()
            here = folder("console")
            words = (*LAUNCH, "console:=true", "console_port:=0", f"run_dir:={here / 'run'}")
            command = ("ros2", "launch", "openral", "deploy_sim.launch.py", *words)
            self._stack = self._open.enter_context(Stack(here, *command))
        return self._stack

    def close(self) -> None:
        """End it."""
        self._open.close()
        self._stack = None


_shared = SharedDeployment()


def shares(item: pytest.Item | None) -> bool:
    """Whether a test of this folder uses the deployment that modules share."""
    return item is not None and HERE in item.path.parents and "stack" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put those that share a deployment first, so that it need not run beside the others."""
    put_first(items, HERE, shares)


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """End the shared deployment with the last test that uses it."""
    if not shares(nextitem):
        _shared.close()


@pytest.fixture(scope="module")
def stack(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A deployment of a drawer with its console; an earlier module may have moved its arm."""
    return _shared.running(tmp_path_factory.mktemp)


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Iterator[Operator]:
    """The graph as it is beside the console, after a mission."""
    with Operator(stack) as listening:
        listening.until_active("mini_metaworld")
        listening.until(lambda: listening.missions and listening.missions[-1].state in ENDED, "a mission")
        yield listening


@pytest.fixture(scope="module")
def url(stack: Stack) -> str:
    return url_of(stack)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What tabs share, so that the first of them alone loads the page's scripts."""
    opened = browser.new_context(viewport=WIDE)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def faults() -> list[str]:
    """What went wrong in the module's tab, for the test that finds it."""
    return []


@pytest.fixture(scope="module")
def opened(context: BrowserContext, url: str, operator: Operator, faults: list[str]) -> Page:
    return open_page(context, url, faults.append)


@pytest.fixture
def page(opened: Page, faults: list[str]) -> Iterator[Page]:
    """The module's tab, which has shown what the arm does; nothing was loaded from elsewhere, and no script failed."""
    yield opened
    assert faults == []
