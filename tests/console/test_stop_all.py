"""Two deployments in one domain: the page of one offers a stop of both, and only while both are there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from console_browser import CONFIRMED, WIDE, open_page, until_text, url_of
from fleet_robots import Robot
from system_stack import Stack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

FIRST, SECOND = "/openral", "/arm2"
IN_FULL = """() => {
  const state = document.querySelector("#state");
  const buttons = [...document.querySelectorAll("#stop, #stop-all, #release")];
  const seen = (box) => box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.width > 40;
  return state.scrollWidth <= state.clientWidth && buttons.length == 3
    && buttons.every((button) => seen(button.getBoundingClientRect()));
}"""
"""The words about the arm are not cut, and the three buttons are in view."""
NOTED = """[...document.querySelectorAll("#log div[class^=l]")]
  .filter((line) => line.innerText.includes("pressed stop for all")).length"""
"""How often the log says that it was pressed: by the console and by the process behind the stop."""
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def robots(browser: Browser, fake_scene: Path) -> Iterator[list[Robot]]:
    """Two bridges."""
    made = [Robot(space, fake_scene) for space in (FIRST, SECOND)]
    for robot in made:
        robot.until(lambda robot=robot: robot.heard["control_status"])
    yield made
    for robot in made:
        robot.close()


@pytest.fixture(scope="module")
def console(robots: list[Robot], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A console of the first."""
    words = ("openral", "console", "--port", "0")
    domain = int(os.environ["ROS_DOMAIN_ID"])
    with Stack(tmp_path_factory.mktemp("console"), *words, domain=domain) as started:
        yield started


@pytest.fixture(scope="module")
def opened(context: BrowserContext, console: Stack, faults: list[str]) -> Page:
    return open_page(context, url_of(console), faults.append)


def until_stopped(robots: list[Robot]) -> None:
    for robot in robots:
        robot.until(lambda robot=robot: robot.status.estopped)


def until_noted(page: Page, before: int) -> None:
    """Wait until both ways have done what was asked for; a stop that comes later would undo a release."""
    page.wait_for_function(f"{NOTED} >= {before + 2}")


def release(robots: list[Robot]) -> None:
    for robot in robots:
        robot.release()
        robot.until(lambda robot=robot: not robot.status.estopped)


def test_stop_stops_this_robot_and_stop_all_stops_both(page: Page, robots: list[Robot]) -> None:
    first, second = robots
    until_text(page, "#stop-all", "Stop all 2")
    assert page.get_attribute("#stop-all", "title") == f"{SECOND}, {FIRST}"
    page.click("#stop")
    page.wait_for_function(CONFIRMED)
    until_stopped([first])
    executed = second.status.executed
    second.begin()
    second.until(lambda: second.status.executed > executed)
    assert not second.status.estopped
    before = page.evaluate(NOTED)
    page.click("#stop-all")
    until_stopped(robots)
    until_noted(page, before)
    until_text(page, "#state", "Stopped")
    for width in (834, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(IN_FULL)
    page.set_viewport_size(WIDE)
    release(robots)


def test_stop_all_works_while_the_console_itself_hangs(
    page: Page, console: Stack, robots: list[Robot]
) -> None:
    until_text(page, "#stop-all", "Stop all 2")
    [process] = [
        each for each in console.processes() if "openral_console.ros.stop_server" not in each.cmdline()
    ]
    before = page.evaluate(NOTED)
    process.suspend()
    try:
        page.click("#stop-all")
        page.wait_for_function(CONFIRMED)
        until_stopped(robots)
    finally:
        process.resume()
    until_noted(page, before)
    release(robots)


@pytest.mark.long
def test_who_is_not_stopped_is_named_and_one_robot_alone_has_one_button(
    page: Page, robots: list[Robot]
) -> None:
    until_text(page, "#stop-all", "Stop all 2")
    first, second = robots
    bridge = psutil.Process(second.pid)
    bridge.suspend()
    try:
        page.click("#stop-all")
        until_text(page, "#alarm", "NOT all are stopped. Use the hardware stop.")
        until_text(page, "#alarm", f"{SECOND}: its bridge did not answer within 3 s")
        until_stopped([first])
    finally:
        bridge.resume()
    until_stopped([second])  # what was asked for is done when it goes on
    release(robots)
    psutil.Process(first.pid).kill()
    until_text(page, "#state", f"No bridge is heard in {FIRST}: there is one in {SECOND}")
    bridge.kill()
    page.wait_for_selector("#stop-all", state="hidden")
    until_text(page, "#state", "nothing is known of the arm")
    assert page.locator("#stop").is_visible()
