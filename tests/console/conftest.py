"""A browser, a deployment with its console, and the pages that look at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

for _folder in ("system", "console", "fleet"):
    if str(Path(__file__).parents[1] / _folder) not in sys.path:
        sys.path.append(str(Path(__file__).parents[1] / _folder))

from console_browser import CHROMIUM, FLAGS, WIDE, open_page, url_of  # noqa: E402  they lie in the folders above
from system_operator import Operator  # noqa: E402
from system_stack import Stack  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LAUNCH = ("scene:=metaworld_drawer", "mission:=close the drawer", "exit_when_done:=false")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed after each module: while Playwright is open, its event loop runs, and no test may start another."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    pytest.importorskip("nicegui", reason="pip install 'openral[console]'")
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH: apt install chromium")
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def stack(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A deployment of a drawer with its console."""
    folder = tmp_path_factory.mktemp("console")
    words = (*LAUNCH, "console:=true", "console_port:=0", f"run_dir:={folder / 'run'}")
    with Stack(folder, "ros2", "launch", "openral", "deploy_sim.launch.py", *words) as started:
        yield started


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Iterator[Operator]:
    """The graph as it is beside the console, after the first mission."""
    with Operator(stack) as listening:
        listening.until_active("mini_metaworld")
        listening.until(lambda: listening.missions and listening.missions[-1].state == "done", "the mission")
        yield listening


@pytest.fixture(scope="module")
def url(stack: Stack) -> str:
    return url_of(stack)


@pytest.fixture
def page(browser: Browser, url: str, operator: Operator) -> Iterator[Page]:
    """A tab that has shown what the arm does; nothing was loaded from elsewhere, and no script failed."""
    faults: list[str] = []
    context = browser.new_context(viewport=WIDE)
    yield open_page(context, url, faults.append)
    context.close()
    assert faults == []
