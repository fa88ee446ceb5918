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
from system_files import write_scene  # noqa: E402
from system_operator import ENDED, Operator  # noqa: E402
from system_order import put_first  # noqa: E402
from system_stack import Stack  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

LAUNCH = ("mission:=close the drawer", "exit_when_done:=false", "console:=true", "console_port:=0")


class Shared:
    """What modules of this folder share: a browser, and a deployment of a drawer with its console."""

    def __init__(self) -> None:
        self._browsing, self._deployed = contextlib.ExitStack(), contextlib.ExitStack()
        self._browser: Browser | None = None
        self._context: BrowserContext | None = None
        self._stack: Stack | None = None
        self._operator: Operator | None = None

    def browser(self) -> Browser:
        """Return it, without WebGL; start it where there is none."""
        if self._browser is None:
            from playwright.sync_api import sync_playwright

            driver = self._browsing.enter_context(sync_playwright())
            self._browser = driver.chromium.launch(executable_path=CHROMIUM, args=PLAIN)
            self._browsing.callback(self._browser.close)
        return self._browser

    def context(self) -> BrowserContext:
        """Return what tabs share, so that the first of them alone loads the page's scripts."""
        if self._context is None:
            self._context = self.browser().new_context(viewport=WIDE)
        return self._context

    def stack(self, folder: Callable[[str], Path]) -> Stack:
        """Return the deployment; start it where it does not run."""
        if self._stack is None or not self._stack.running:
            self.end_deployment()
            here = folder("console")
            # Nothing here is looked for: a node that looks at each picture in vain takes its share of a core.
            scene = write_scene(here, detector_skill=None, playbooks=None)
            words = (*LAUNCH, f"scene:={scene}", f"run_dir:={here / 'run'}")
            command = ("ros2", "launch", "openral", "deploy_sim.launch.py", *words)
            self._stack = self._deployed.enter_context(Stack(here, *command))
        return self._stack

    def operator(self, stack: Stack) -> Operator:
        """Return the graph as it is beside the deployment, after a mission."""
        if self._operator is None:
            self._operator = self._deployed.enter_context(Operator(stack))
            heard = self._operator
            heard.until_active("mini_metaworld")
            heard.until(lambda: heard.missions and heard.missions[-1].state in ENDED, "a mission")
        return self._operator

    def end_deployment(self) -> None:
        """End it, and what listens beside it."""
        self._deployed.close()
        self._stack = self._operator = None

    def end_browser(self) -> None:
        """End it: while Playwright is open, no test may start another event loop."""
        self._browsing.close()
        self._browser = self._context = None


_shared = Shared()


def uses(item: pytest.Item | None, fixture: str) -> bool:
    """Whether a test of this folder uses a fixture."""
    return item is not None and HERE in item.path.parents and fixture in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put those that share a deployment first, then those that share a browser: neither runs beside the others."""
    for fixture in ("browser", "stack"):
        put_first(items, HERE, lambda item, fixture=fixture: uses(item, fixture))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """End what is shared after the last test that uses it."""
    try:
        return (yield)
    finally:
        if not uses(nextitem, "stack"):
            _shared.end_deployment()
        if not uses(nextitem, "browser"):
            _shared.end_browser()


@pytest.fixture(scope="module")
def browser() -> Browser:
    pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    pytest.importorskip("nicegui", reason="pip install 'openral[console]'")
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH: apt install chromium")
    return _shared.browser()


@pytest.fixture(scope="module")
def stack(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A deployment of a drawer with its console; an earlier module may have moved its arm."""
    return _shared.stack(tmp_path_factory.mktemp)


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Operator:
    return _shared.operator(stack)


@pytest.fixture(scope="module")
def url(stack: Stack) -> str:
    return url_of(stack)


@pytest.fixture(scope="module")
def context(browser: Browser) -> BrowserContext:
    """What tabs share; those of an earlier module are closed."""
    shared = _shared.context()
    for tab in shared.pages:
        tab.close()
    return shared


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
