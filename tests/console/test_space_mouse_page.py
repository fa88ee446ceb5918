"""A SpaceMouse moves the arm of a deployment through a page that has taken it; nothing but USB is faked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from compact import FAKE_USB, FULL, LEFT, RIGHT, Compact
from console_browser import open_page, release, until_text, url_of
from console_hand import Watcher, give_back, take
from system_operator import Operator
from system_stack import Stack

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

READY = "Push, slide or lift the cap"
LET_GO = "let go of the cap"
pytestmark = [pytest.mark.timeout(400), pytest.mark.long]


@pytest.fixture(scope="module")
def compact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compact]:
    pytest.importorskip("pyspacemouse", reason="pip install 'openral[spacemouse]'")
    made = Compact(tmp_path_factory.mktemp("usb"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def beside(
    stack: Stack, operator: Operator, compact: Compact, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A console with a SpaceMouse beside the deployment."""
    words = ("--scene", "metaworld_drawer", "--port", "0", "--space-mouse")
    path = os.pathsep.join([str(FAKE_USB), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENRAL_FAKE_USB", str(compact.folder))
        environment.setenv("PYTHONPATH", path)
        started = Stack(tmp_path_factory.mktemp("mouse"), "openral", "console", *words, domain=stack.domain)
    with started:
        yield started
        assert started.errors == []


@pytest.fixture
def watcher(operator: Operator) -> Watcher:
    return Watcher(operator)


@pytest.fixture(scope="module")
def faults() -> list[str]:
    """What went wrong in the module's tab, for the test that finds it."""
    return []


@pytest.fixture(scope="module")
def mouse_tab(context: BrowserContext, beside: Stack, faults: list[str]) -> Page:
    page = open_page(context, url_of(beside), faults.append)
    until_text(page, "#cap", "SpaceMouseCompact: ready")
    return page


@pytest.fixture
def tab(mouse_tab: Page, compact: Compact, faults: list[str]) -> Iterator[Page]:
    """The tab of the console with the SpaceMouse, whose cap is at rest; the arm is given back after the test."""
    yield mouse_tab
    compact.let_go()
    if not mouse_tab.is_closed():
        give_back(mouse_tab)
    assert faults == []


def take_at_rest(page: Page) -> None:
    """Take the arm and let the cap be seen at rest."""
    take(page)
    until_text(page, "#cap", READY)
    page.wait_for_timeout(500)


def press_until_driven(page: Page, operator: Operator, compact: Compact, watcher: Watcher, z: int) -> None:
    """Press the cap until the arm moves; once more after a rest, where the page was silent for too long."""
    while not watcher.driven():
        compact.press(z=z)
        operator.until(lambda: watcher.driven() or LET_GO in page.inner_text("#cap"), "a motion by hand")
        if not watcher.driven():
            compact.let_go()
            until_text(page, "#cap", READY)
            page.wait_for_timeout(500)


def click_until(compact: Compact, heard: Callable[[], bool], operator: Operator) -> None:
    """Click the button of the fingers; again where a busy machine's page was silent, and forgot it."""
    for _ in range(8):
        compact.click(LEFT)
        with contextlib.suppress(AssertionError):
            operator.until(heard, "fingers that are told to move", 10.0)
            return
    raise AssertionError("the fingers are not told to move")


def test_the_cap_moves_nothing_before_a_page_has_the_arm_and_the_cap_was_let_go(
    tab: Page, operator: Operator, compact: Compact, watcher: Watcher
) -> None:
    operator.reset("", -1)  # earlier modules may have lifted the hand as far as it goes
    compact.press(z=-FULL)
    tab.wait_for_timeout(300)
    assert watcher.chunks == [], "nobody has taken the arm"
    take(tab)
    until_text(tab, "#cap", LET_GO)
    assert watcher.chunks == [], "it was pressed before the arm was taken"
    compact.let_go()
    until_text(tab, "#cap", READY)
    tab.wait_for_timeout(500)
    assert watcher.chunks == [], "a page that is merely there moves nothing"
    before = operator.positions[-1]
    press_until_driven(tab, operator, compact, watcher, -FULL)
    operator.until(lambda: operator.positions[-1][2] > before[2] + 0.02, "a hand that rises")
    compact.let_go()
    watcher.until_held()


@pytest.mark.parametrize("fault", ["hang", "pull_out"])
def test_the_arm_holds_when_the_device_fails_while_its_cap_is_pressed_and_the_page_says_so(
    tab: Page, operator: Operator, compact: Compact, watcher: Watcher, fault: str
) -> None:
    take_at_rest(tab)
    press_until_driven(tab, operator, compact, watcher, FULL if fault == "hang" else -FULL)
    getattr(compact, fault)()
    watcher.until_held()
    words = {"hang": "its driver does not return", "pull_out": "no SpaceMouse is plugged in"}
    until_text(tab, "#cap", words[fault])
    compact.let_go()
    (compact.resume if fault == "hang" else compact.plug_in)()
    until_text(tab, "#cap", READY)
    tab.wait_for_timeout(500)
    press_until_driven(tab, operator, compact, watcher, -FULL)


def test_its_buttons_move_the_fingers_and_stop(
    tab: Page, beside: Stack, operator: Operator, compact: Compact, watcher: Watcher
) -> None:
    take_at_rest(tab)
    click_until(compact, lambda: bool(watcher.chunks), operator)
    told = watcher.chunks[-1].data[-1]
    click_until(compact, lambda: watcher.chunks[-1].data[-1] == -told, operator)
    compact.click(RIGHT)
    operator.until(lambda: operator.status[-1].estopped, "the stop")
    beside.until_says("the SpaceMouse: pressed stop")
    release(tab, operator)


def test_the_arm_holds_when_the_page_is_closed_while_the_cap_is_pressed(
    tab: Page, operator: Operator, compact: Compact, watcher: Watcher
) -> None:
    take_at_rest(tab)
    press_until_driven(tab, operator, compact, watcher, -FULL)
    tab.close()
    watcher.until_held()
    operator.until(lambda: not operator.skills["teleoperation"].active, "the arm let go")
