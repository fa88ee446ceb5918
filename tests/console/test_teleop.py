"""Moving the arm by hand: what keys become, and in a real browser that the arm holds when the hand is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from console_browser import actions, open_page, release, say, until_text
from console_hand import Watcher, give_back, take
from system_operator import Operator
from system_stack import Stack

from openral_console.teleop.page_freshness import LATE_S, Freshness
from openral_console.teleop.steering import HORIZON_S, Steer, actions_for
from openral_control.motions.arm import MotionArm
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.timeout(240)


def arm_of(name: str) -> MotionArm:
    scene = load_scene(name)
    return MotionArm.of(scene, load_robot(scene.robot_id))


def state_at(*position: float) -> RobotState:
    return RobotState(0.0, (), np.zeros(0), np.array(position), np.array([0.0, 0.0, 0.0, 1.0]), 0.05)


@pytest.mark.parametrize("scene", ["metaworld_drawer", "tabletop_panda"])
def test_a_direction_becomes_displacements_at_its_speed(scene: str) -> None:
    arm = arm_of(scene)
    middle = (arm.box_low + arm.box_high) / 2
    rows = actions_for(arm, state_at(*middle), Steer(y=1.0, speed_m_s=0.1), gripper=-1.0)
    moved = rows[:, :3].sum(axis=0) * arm.step_m
    np.testing.assert_allclose(moved, [0.0, 0.1 * len(rows) * arm.dt, 0.0], atol=1e-4)
    assert len(rows) * arm.dt <= HORIZON_S + arm.dt
    assert (rows[:, -1] <= -0.99).all()


def test_at_the_wall_of_the_workspace_it_goes_no_further() -> None:
    arm = arm_of("metaworld_drawer")
    at = (arm.box_low + arm.box_high) / 2
    at[0] = arm.box_high[0]
    rows = actions_for(arm, state_at(*at), Steer(x=1.0), gripper=0.0)
    assert rows[:, 0].sum() <= 0.0


def test_only_an_arm_whose_actions_turn_the_hand_is_turned() -> None:
    for scene, turned in (("metaworld_drawer", False), ("tabletop_panda", True)):
        arm = arm_of(scene)
        middle = (arm.box_low + arm.box_high) / 2
        rows = actions_for(arm, state_at(*middle), Steer(turn=1.0), gripper=0.0)
        assert bool(np.abs(rows[:, :-1]).max() > 0) == turned


def test_nothing_pressed_is_no_motion_and_fingers_move_though_a_step_of_it_is_late() -> None:
    arm = arm_of("metaworld_drawer")
    rows = actions_for(arm, state_at(0.0, 0.6, 0.2), Steer(), gripper=0.5)
    assert len(rows) * arm.dt == pytest.approx(HORIZON_S)
    assert not rows[:, :3].any()
    assert (rows[:, -1] == np.float32(0.5)).all()


@pytest.mark.parametrize("rate", [1 - 1e-4, 1.0, 1 + 1e-4])
def test_a_page_whose_clock_runs_at_another_rate_stays_fresh_for_hours(rate: float) -> None:
    freshness = Freshness()
    assert all(freshness.admits(rate * second, 1000.0 + second) for second in range(4 * 3600))
    assert not freshness.admits(rate * 4 * 3600, 1000.2 + 4 * 3600)


def test_what_a_stalled_network_delivers_late_is_none_of_it_fresh() -> None:
    freshness = Freshness()
    assert freshness.admits(100.0, 5.0)
    assert freshness.admits(100.05, 5.06)
    assert [freshness.admits(100.1 + 0.05 * n, 6.0) for n in range(3)] == [False, False, False]
    assert freshness.admits(101.0, 6.0 + LATE_S / 2)


@pytest.fixture
def watcher(operator: Operator) -> Watcher:
    return Watcher(operator)


def test_held_keys_move_the_arm_and_released_ones_do_not(
    page: Page, operator: Operator, watcher: Watcher, stack: Stack
) -> None:
    take(page)
    before = operator.positions[-1]
    page.keyboard.down("r")
    watcher.until_driven()
    operator.until(lambda: operator.positions[-1][2] > before[2] + 0.02, "a hand that rises")
    page.keyboard.up("r")
    watcher.until_held()
    page.click("#take")
    until_text(page, "#take", "Take the arm")
    assert {"took the arm", "gave the arm back"} <= set(actions(stack))


def test_the_arm_holds_when_the_tab_is_closed_while_a_key_is_held(
    context: BrowserContext, url: str, operator: Operator, watcher: Watcher
) -> None:
    faults: list[str] = []
    tab = open_page(context, url, faults.append)
    take(tab)
    tab.keyboard.down("f")
    watcher.until_driven()
    tab.close()
    watcher.until_held()
    operator.until(lambda: not operator.skills["teleoperation"].active, "the arm let go")
    assert faults == []


@pytest.mark.slow
def test_the_arm_holds_when_the_tab_is_blurred_while_a_key_is_held(
    page: Page, operator: Operator, watcher: Watcher
) -> None:
    take(page)
    page.keyboard.down("r")
    watcher.until_driven()
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    watcher.until_held()
    page.keyboard.up("r")
    give_back(page)
    operator.until(lambda: not operator.skills["teleoperation"].active, "the arm let go")


def take_from_the_policy(page: Page, operator: Operator) -> str:
    """Order that the drawer is opened, take the arm while the policy does it, and return the goal that waits.

    The policy needs two seconds. Where the browser needs longer, the arm is given back and the order given again.
    """
    status = operator.status
    while True:
        operator.reset("drawer-open-v3", 1003)
        say(page, "open the drawer")
        operator.until(
            lambda: status[-1].skill == "openral/rskill-mini-metaworld" and not status[-1].holding,
            "the policy",
        )
        goal = str(status[-1].active_goal)
        take(page)
        operator.until(
            lambda goal=goal: status[-1].active_goal != goal or status[-1].paused_goal == goal, "a pause"
        )
        if status[-1].paused_goal == goal:
            return goal
        page.click("#take")
        operator.until(lambda: not status[-1].taken_over_by, "the arm given back")


def test_a_policy_is_taken_over_within_its_attempt_corrected_and_goes_on(
    page: Page, operator: Operator, watcher: Watcher, stack: Stack
) -> None:
    take_from_the_policy(page, operator)
    until_text(page, "#state", "has the arm, which holds; the policy waits")
    page.keyboard.down("r")
    watcher.until_driven()
    until_text(page, "#state", "moves the arm; the policy waits")
    page.keyboard.up("r")
    watcher.until_held()
    page.click("#take")
    until_text(page, "#mission-state", "done")
    until_text(page, "#steps", "the arm was given back")
    assert operator.missions[-1].tasks[0].attempts == 1
    assert {"took the arm", "gave the arm back"} <= set(actions(stack))


@pytest.mark.long
def test_a_tab_that_is_closed_leaves_the_arm_still_until_somebody_lets_the_policy_go_on(
    browser: Browser, page: Page, url: str, operator: Operator, watcher: Watcher
) -> None:
    faults: list[str] = []
    context = browser.new_context()
    other = open_page(context, url, faults.append)
    take_from_the_policy(other, operator)
    other.keyboard.down("r")
    watcher.until_driven()
    other.close()
    context.close()
    watcher.until_held()
    assert operator.status[-1].paused_goal
    assert operator.status[-1].intervention == "paused"
    page.click("#go-on")
    until_text(page, "#mission-state", "done")
    assert faults == []


PAD = """
window.pad = {connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons: []};
for (let i = 0; i < 17; i++) window.pad.buttons.push({pressed: false, value: 0});
navigator.getGamepads = () => [null, window.pad];
"""
"""A gamepad that a test moves, in the place of the browser's."""
SHOULDER, B = 5, 1


def press(page: Page, button: int, down: bool) -> None:
    page.evaluate("([button, down]) => { window.pad.buttons[button].pressed = down }", [button, down])


@pytest.mark.long
def test_a_gamepad_moves_the_arm_while_its_shoulder_button_is_held_and_its_b_button_stops_it(
    page: Page, operator: Operator, watcher: Watcher
) -> None:
    page.evaluate(PAD)
    page.evaluate("window.dispatchEvent(new Event('gamepadconnected'))")
    take(page)
    operator.until(lambda: operator.status[-1].taken_over_by, "an arm that is taken")
    page.evaluate("window.pad.axes[3] = -1")  # the right stick up
    page.wait_for_timeout(300)
    assert watcher.chunks == [], "sticks alone move nothing"
    before = operator.positions[-1]
    press(page, SHOULDER, True)
    watcher.until_driven()
    operator.until(lambda: operator.positions[-1][2] > before[2] + 0.02, "a hand that rises")
    press(page, SHOULDER, False)
    watcher.until_held()

    press(page, SHOULDER, True)
    watcher.until_driven()
    page.evaluate("window.pad.connected = false")  # the radio of the pad is gone
    watcher.until_held()

    page.evaluate("window.pad.connected = true")
    press(page, B, True)
    operator.until(lambda: operator.status[-1].estopped, "the stop")
    release(page, operator)
