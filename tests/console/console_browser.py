"""What the tests of the page share: starting a browser, opening a tab, waiting for words in it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import psutil
from system_operator import Operator
from system_stack import Stack, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
WIDE = {"width": 1440, "height": 900}
# Started as root, as in a container, it needs --no-sandbox. Without a GPU the rest of the page costs half as much when
# it is not drawn by SwiftShader.
FLAGS = ["--no-sandbox", "--disable-gpu"]
PLAIN, WEBGL = [*FLAGS, "--disable-3d-apis"], [*FLAGS, "--enable-unsafe-swiftshader"]
"""Without WebGL, and with SwiftShader's, which takes 0.4 of a core while the robot moves."""
PATIENCE_MS = 120_000
CONFIRMED = "document.documentElement.dataset.stop == 'confirmed'"


def open_page(context: BrowserContext, url: str, fault: Callable[[str], object]) -> Page:
    """Open a tab and wait until it says what the arm does.

    Args:
        context: of the browser.
        url: of the console, with its token.
        fault: takes errors of scripts, and addresses that are not of this machine.
    """
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    opened.on("pageerror", lambda error: fault(str(error)))
    origin = url.partition("?")[0]
    opened.on("request", lambda request: None if is_local(request.url, origin) else fault(request.url))
    opened.goto(url)
    opened.wait_for_function("document.querySelector('#state')?.innerText.length > 0")
    return opened


def is_local(address: str, origin: str) -> bool:
    """Whether an address is of this console, or of the process behind its stop."""
    host = re.escape(origin.rstrip("/").rpartition(":")[0])
    return bool(re.match(rf"{host}:\d+/|data:|blob:", address))


def url_of(stack: Stack) -> str:
    """Return the address that the console of a stack has printed."""
    wait_for(lambda: "openral console: http" in stack.output, lambda: f"the address; {stack.output}")
    found = re.search(r"openral console: (\S+)", stack.output)
    assert found is not None
    return found[1]


def until_text(page: Page, selector: str, words: str) -> None:
    """Wait until an element holds words."""
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_contain_text(words, timeout=PATIENCE_MS)


def say(page: Page, words: str) -> None:
    """Type an order."""
    page.fill("#prompt", words)
    page.press("#prompt", "Enter")


def release(page: Page, operator: Operator) -> None:
    """Release the stop as an operator does."""
    page.click("#release")
    page.click("#release-now")
    operator.until(lambda: not operator.status[-1].estopped, "the release")


def actions(stack: Stack) -> list[str]:
    """Return what the console of a stack has noted so far."""
    lines = (stack.folder / "run" / "console.jsonl").read_text().splitlines()
    return [json.loads(line)["did"] for line in lines]


def console_of(stack: Stack) -> psutil.Process:
    """Return the process of the console."""
    found = re.search(r"\[console-\d+\]: process started with pid \[(\d+)\]", stack.output)
    assert found is not None
    return psutil.Process(int(found[1]))
