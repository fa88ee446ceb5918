"""The page in a real browser, on a deployment that moves."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
import rclpy
from console_browser import (
    CHROMIUM,
    CONFIRMED,
    WEBGL,
    WIDE,
    actions,
    console_of,
    open_page,
    release,
    say,
    until_text,
)
from system_operator import ENDED, Operator
from system_stack import Stack, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LINES, LINES_HZ = 1500, 1000
pytestmark = pytest.mark.timeout(240)


FRAMES = """
Object.keys(mounted_app.elements).map((id) => getElement(id)?.renderer?.info?.render.frame).find((frame) => frame >= 0)
"""
"""How often the view of the robot was drawn; undefined where there is none yet."""
ALONE = """
const style = document.createElement("style");
style.textContent = ".c-panel:not(:has(#robot)) { display: none }";
addEventListener("DOMContentLoaded", () => document.head.append(style));
"""
"""Hides the other panels: their pictures and words, drawn without a GPU, take a core."""


def test_the_robot_is_drawn_while_it_moves_and_not_while_it_rests(
    browser: Browser, url: str, operator: Operator
) -> None:
    faults: list[str] = []
    with browser.browser_type.launch(executable_path=CHROMIUM, args=WEBGL) as drawing:
        context = drawing.new_context(viewport=WIDE)
        context.add_init_script(ALONE)
        page = open_page(context, url, faults.append)
        page.wait_for_function(f"({FRAMES}) > 0")

        def until_at_rest() -> int:
            """Wait until the view is not drawn for half a second, and return how often it was."""
            drawn = [-1, 0]
            while drawn[-1] != drawn[-2]:
                page.wait_for_timeout(500)
                drawn.append(int(page.evaluate(FRAMES)))
            return drawn[-1]

        before = until_at_rest()
        operator.say("close the drawer")
        operator.until_moving()
        page.wait_for_function(f"({FRAMES}) > {before + 1}")
        operator.say("stop")
        operator.until(lambda: operator.missions[-1].state in ENDED, "the end of the mission")
        until_at_rest()
    assert faults == []


STATES = """
() => {
  window.states = [];
  const note = () => window.states.push(document.querySelector("#state").textContent);
  new MutationObserver(note).observe(document.body, {subtree: true, childList: true, characterData: true});
}
"""
"""Notes whatever the page says of the robot's state; a motion of two seconds may end between two looks."""


def test_a_mission_from_prompt_to_done(page: Page, stack: Stack) -> None:
    page.evaluate(STATES)
    say(page, "open the drawer")
    until_text(page, "#mission", "open the drawer")
    until_text(page, "#mission-state", "done")
    states = page.evaluate("window.states")
    assert any("Moving: open the drawer" in state for state in states), dict.fromkeys(states)
    until_text(page, "#queue", "stayed at or above 0.80")
    until_text(page, "#steps", "attempt 1: openral/rskill-mini-metaworld is asked")
    until_text(page, "#reading", "success")
    until_text(page, "#skills", "mini-metaworld")
    until_text(page, "#diagnostics", "sim_bridge: control")
    until_text(page, "[data-value=rate]", "of 80 Hz")
    until_text(page, "[data-camera=corner2]", "Hz")
    page.wait_for_function("document.querySelector('[data-camera=corner2] img').naturalWidth == 128")
    assert 'said "open the drawer"' in actions(stack)


def test_a_question_is_answered_by_a_button(page: Page, operator: Operator, stack: Stack) -> None:
    say(page, "mess with the drawer")
    until_text(page, "#question", "Did you mean")
    assert page.locator("#question [data-part=answer]").all_inner_texts() == ["yes", "no"]
    page.locator("#question").get_by_role("button", name="no").click()
    until_text(page, "#mission-state", "failed")
    page.wait_for_selector("#question", state="hidden")
    assert 'said "no"' in actions(stack)


def test_the_space_bar_stops_a_moving_arm(page: Page, operator: Operator, stack: Stack) -> None:
    say(page, "close the drawer")
    operator.until_moving()
    page.keyboard.press("Space")
    page.wait_for_function(CONFIRMED)
    operator.until(lambda: operator.status[-1].estopped, "the stop")
    executed = operator.status[-1].executed
    until_text(page, "#state", "Stopped")
    until_text(page, "#mission-state", "stopped")
    assert operator.status[-1].executed == executed
    release(page, operator)
    until_text(page, "#state", "Holding")
    done = actions(stack)
    assert "pressed stop" in done
    assert "released the stop" in done


def test_stop_works_while_the_console_itself_hangs(page: Page, operator: Operator, stack: Stack) -> None:
    console = console_of(stack)
    say(page, "open the drawer")
    operator.until_moving()
    console.suspend()
    try:
        page.keyboard.press("Space")
        page.wait_for_function(CONFIRMED)
        operator.until(lambda: operator.status[-1].estopped, "the stop")
    finally:
        console.resume()
    assert "pressed stop, heard by its own process" in actions(stack)
    release(page, operator)


@pytest.mark.slow
def test_the_process_behind_stop_is_started_again(page: Page, operator: Operator, stack: Stack) -> None:
    (behind,) = console_of(stack).children()
    behind.kill()
    stack.until_says("the process behind Stop ended with -9; it is started again")
    before = len(actions(stack))
    page.click("#stop")
    page.wait_for_function(CONFIRMED)
    heard = "pressed stop, heard by its own process"  # when the new one is up
    wait_for(lambda: heard in actions(stack)[before:], lambda: f"the new process in {actions(stack)}")
    release(page, operator)
    assert "released the stop" in actions(stack)[before:]


def test_while_typing_the_space_bar_types_and_escape_stops(page: Page, operator: Operator) -> None:
    page.click("#prompt")
    page.keyboard.type("open the drawer")
    assert page.input_value("#prompt") == "open the drawer"
    assert page.inner_text("#stop kbd") == "Esc"
    assert not operator.status[-1].estopped
    page.keyboard.press("Escape")
    operator.until(lambda: operator.status[-1].estopped, "the stop")
    release(page, operator)


@pytest.mark.long
def test_two_tabs_show_the_same(page: Page, url: str) -> None:
    faults: list[str] = []
    other = open_page(page.context, url, faults.append)
    say(page, "juggle the drawer")
    for tab in (page, other):
        until_text(tab, "#message", "I cannot do this")
    other.close()
    say(page, "stop")
    assert faults == []


def talk(domain: int) -> None:
    """Say lines at a steady rate."""
    context = rclpy.Context()
    context.init(domain_id=domain)
    node = rclpy.create_node("talker", context=context)
    try:
        start = time.monotonic()
        for number in range(LINES):
            node.get_logger().info(f"line {number}")
            time.sleep(max(0.0, start + number / LINES_HZ - time.monotonic()))
    finally:
        node.destroy_node()
        context.try_shutdown()


@pytest.mark.long
def test_a_thousand_log_lines_a_second_come_to_a_page_in_few_messages(page: Page, stack: Stack) -> None:
    frames: list[object] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.reload()
    page.wait_for_function("document.querySelector('#log-count')?.innerText.length > 0")
    before, heard = int(page.inner_text("#log-count").split()[0]), len(frames)
    talker = threading.Thread(target=talk, args=(stack.domain,))
    talker.start()
    talker.join()
    until_text(page, "#log", f"line {LINES - 1}")
    assert 0 < len(frames) - heard < LINES / 5
    assert page.locator("#log > div").count() <= 200
    # The console keeps a thousand that wait; a machine that is busier than that loses some.
    assert int(page.inner_text("#log-count").split()[0]) >= before + 0.5 * LINES


def test_a_tablet_has_the_stop_in_view_wherever_it_is_scrolled(page: Page) -> None:
    page.set_viewport_size({"width": 834, "height": 1112})
    page.wait_for_function("document.documentElement.scrollWidth <= 834")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    box = page.locator("#stop").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 1112
    page.set_viewport_size(WIDE)


def test_without_the_token_nothing_is_shown(browser: Browser, url: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    wrong = url.partition("?")[0] + "?token=wrong"
    answer = page.goto(wrong)
    assert answer is not None
    assert answer.status == 401
    assert "another console's" in page.inner_text("body")
    assert page.goto(url.partition("?")[0] + "pictures").status == 401
    context.close()


def test_the_token_is_printed_once_and_logged_nowhere(stack: Stack, url: str) -> None:
    token = url.partition("token=")[2]
    assert token not in (stack.folder / "run" / "console.jsonl").read_text()
    lines = [line for line in stack.output.splitlines() if token in line]
    assert all("openral console: http" in line for line in lines)  # printed once, for whoever started it
