"""A SpaceMouse: what its reports mean, and that its cap moves nothing that it should not. Only USB is faked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from compact import FAKE_USB, FULL, LEFT, RIGHT, Compact
from system_stack import PATIENCE_S, wait_for

from openral_console.teleop.fake_space_mouse import FakeSpaceMouse
from openral_console.teleop.pyspacemouse_device import PySpaceMouseDevice, check_pyspacemouse
from openral_console.teleop.space_mouse import GONE_S, REST_S, SILENT_S, SpaceMouse
from openral_console.teleop.space_mouse_device import SpaceMouseError, SpaceMouseReport
from openral_console.teleop.steering import HORIZON_S
from openral_core.errors import InstallationError, OpenralError

UP = SpaceMouseReport(z=1.0)
STILL = SpaceMouseReport()


class World:
    """A SpaceMouse before a device, on a clock that the test moves."""

    def __init__(self, cap: FakeSpaceMouse) -> None:
        self.cap, self.now_s = cap, 100.0
        self.stops, self.said, self.stop_fault = 0, [], ""
        self.mouse = SpaceMouse(cap.open, self._stop, self.said.append, lambda: self.now_s)

    def _stop(self) -> str:
        self.stops += 1
        return self.stop_fault

    def pass_by(self, seconds: float) -> None:
        """Let time pass in steps that no device needs to answer quicker."""
        while seconds > 0:
            step = min(seconds, SILENT_S / 2)
            self.now_s, seconds, reads = self.now_s + step, seconds - step, self.cap.reads
            end = time.monotonic() + PATIENCE_S
            while self.cap.reads < reads + 3:  # the third began after the time had changed
                assert time.monotonic() < end, "the device is not read"
                time.sleep(0.002)

    def until_up(self) -> None:
        wait_for(lambda: self.mouse.deflection().z == 1.0, lambda: f"a deflection; {self.mouse.fault}")

    def until_fault(self, words: str) -> None:
        wait_for(lambda: words in self.mouse.fault, lambda: f"{words!r}; {self.mouse.fault!r}")
        assert self.mouse.deflection() == STILL


@pytest.fixture
def world() -> Iterator[World]:
    made = World(FakeSpaceMouse())
    wait_for(lambda: made.mouse.error is None, "an open device")
    made.pass_by(2 * REST_S)
    yield made
    made.cap.resume()
    made.mouse.close()


def test_a_pressed_cap_counts_and_one_that_was_let_go_does_not(world: World) -> None:
    assert world.mouse.deflection() == STILL
    assert world.mouse.fault == ""
    world.cap.press(UP)
    world.until_up()
    world.pass_by(3 * GONE_S)
    assert world.mouse.deflection().z == 1.0, "it counts as long as it is pressed"
    world.cap.let_go()
    wait_for(lambda: world.mouse.deflection() == STILL, "a cap at rest")
    assert world.mouse.fault == ""


def test_what_a_hand_does_beside_its_direction_is_in_the_dead_zone(world: World) -> None:
    world.cap.press(SpaceMouseReport(x=-1.4, y=0.1, z=-0.1, turn=0.56))
    wait_for(lambda: world.mouse.deflection() != STILL, "a deflection")
    seen = world.mouse.deflection()
    assert (seen.x, seen.y, seen.z) == (-1.0, 0.0, 0.0)
    assert seen.turn == pytest.approx(0.5)


def test_the_arm_holds_in_time_when_a_pressed_cap_falls_silent(world: World) -> None:
    assert SILENT_S + HORIZON_S < 0.3
    world.cap.press(UP)
    world.until_up()
    world.cap.fall_silent()
    world.pass_by(1.5 * SILENT_S)
    assert world.mouse.deflection() == STILL
    assert "fell silent while its cap was pressed" in world.mouse.fault
    world.cap.press(UP)
    world.until_up()  # a radio that stuttered


def test_the_arm_holds_in_time_when_the_driver_hangs_while_the_cap_is_pressed(world: World) -> None:
    world.cap.press(UP)
    world.until_up()
    world.cap.hang()
    wait_for(lambda: world.cap.hangs, "a hang")
    world.now_s += 1.01 * SILENT_S
    assert world.mouse.deflection() == STILL
    assert "is not read" in world.mouse.fault
    world.now_s += GONE_S
    world.cap.resume()
    world.until_fault("let go of the cap")  # whoever pressed it may have gone away
    world.pass_by(2 * REST_S)
    assert world.mouse.deflection() == STILL
    world.cap.let_go()
    wait_for(lambda: world.mouse.fault == "", "a cap at rest")
    world.pass_by(2 * REST_S)
    world.cap.press(UP)
    world.until_up()


def test_pulled_out_it_moves_nothing_and_plugged_in_again_it_does(world: World) -> None:
    world.cap.press(UP)
    world.until_up()
    world.cap.plugged = False
    world.until_fault("no SpaceMouse is plugged in")
    assert "the SpaceMouse was pulled out" in world.said
    world.cap.plugged = True
    world.until_fault("let go of the cap")  # it is pressed as it is plugged in
    world.cap.let_go()
    wait_for(lambda: world.mouse.fault == "", "a cap at rest")
    world.pass_by(2 * REST_S)
    world.cap.press(UP)
    world.until_up()
    assert world.cap.opened == 2
    assert world.said.count("no SpaceMouse is plugged in") == 1, "a device that stays away is told of once"


def test_a_cap_that_is_pressed_as_the_arm_is_taken_must_be_let_go_first(world: World) -> None:
    world.cap.press(UP)
    world.until_up()
    world.mouse.demand_rest()
    world.pass_by(GONE_S)
    world.until_fault("let go of the cap")
    world.cap.let_go()
    wait_for(lambda: world.mouse.fault == "", "a cap at rest")
    world.pass_by(2 * REST_S)
    world.cap.press(UP)
    world.until_up()


def test_whatever_a_driver_raises_is_shown_and_the_device_is_opened_again(world: World) -> None:
    world.cap.error = ZeroDivisionError("of a report")
    wait_for(lambda: world.mouse.error is not None, "an error")
    assert isinstance(world.mouse.error, OpenralError)
    assert "the SpaceMouse failed: ZeroDivisionError: of a report" in world.said
    wait_for(lambda: world.mouse.fault == "", "a device that was opened again")


def test_a_button_is_pressed_once_however_short(world: World) -> None:
    down, both = SpaceMouseReport(fingers=True), SpaceMouseReport(fingers=True, stop=True)
    world.cap.report(down, STILL, down, both, STILL)
    wait_for(lambda: world.mouse.presses == 2 and world.stops == 1, lambda: str(world.mouse.presses))
    world.pass_by(GONE_S)
    assert (world.mouse.presses, world.stops) == (2, 1)


def test_a_stop_in_vain_is_known(world: World) -> None:
    world.stop_fault = "no bridge is in the graph"
    world.cap.report(SpaceMouseReport(stop=True), STILL)
    wait_for(lambda: world.mouse.stop_fault == "no bridge is in the graph", "the fault")


@pytest.fixture
def compact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compact]:
    """A SpaceMouse Compact that pyspacemouse itself reads."""
    pytest.importorskip("pyspacemouse", reason="pip install 'openral[spacemouse]'")
    for name in [name for name in sys.modules if name.split(".")[0] in ("pyspacemouse", "easyhid")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(FAKE_USB))
    monkeypatch.setenv("OPENRAL_FAKE_USB", str(tmp_path))
    made = Compact(tmp_path)
    yield made
    made.close()
    for name in [name for name in sys.modules if name.split(".")[0] in ("pyspacemouse", "easyhid")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("pressed", "axis"),
    [
        ({"y": -FULL}, "x"),  # away from the operator, as W
        ({"x": -FULL}, "y"),  # to the left, as A
        ({"z": -FULL}, "z"),  # lifted, as R
        ({"rz": -FULL}, "turn"),  # counterclockwise from above, as Q
    ],
)
def test_the_cap_of_a_real_product_points_where_the_keys_do(
    compact: Compact, pressed: dict[str, int], axis: str
) -> None:
    check_pyspacemouse()
    device = PySpaceMouseDevice()
    assert device.name == "SpaceMouseCompact"
    assert device.read() is None
    compact.press(**pressed)
    seen: list[SpaceMouseReport] = []

    def read() -> bool:
        report = device.read()
        if report is not None:
            seen.append(report)
        return len(seen) >= 2  # it reports displacement and rotation by turns

    wait_for(read, "two reports")
    assert seen[-1] == SpaceMouseReport(**{axis: 1.0})


def test_a_click_of_a_real_product_is_not_lost(compact: Compact) -> None:
    stopped: list[str] = []

    def stop() -> str:
        stopped.append("stop")
        return ""

    mouse = SpaceMouse(PySpaceMouseDevice, stop, lambda line: None)
    wait_for(lambda: mouse.error is None, lambda: str(mouse.error))
    compact.click(LEFT)
    compact.click(RIGHT)
    wait_for(lambda: mouse.presses == 1 and stopped == ["stop"], "both buttons")
    mouse.close()


def opened(fault: type[OpenralError], make: Callable[[], object]) -> str:
    with pytest.raises(fault) as raised:
        make()
    return str(raised.value)


def test_what_is_missing_is_named_with_its_fix(compact: Compact, monkeypatch: pytest.MonkeyPatch) -> None:
    compact.pull_out()
    assert opened(SpaceMouseError, PySpaceMouseDevice) == "no SpaceMouse is plugged in"
    compact.plug_in()
    (compact.folder / "denied").touch()
    text = opened(SpaceMouseError, PySpaceMouseDevice)
    assert "/dev/hidraw7 cannot be opened" in text
    assert "/etc/udev/rules.d/70-spacemouse.rules" in text
    (compact.folder / "no_hidapi").touch()
    assert "apt install libhidapi-hidraw0" in opened(InstallationError, check_pyspacemouse)
    monkeypatch.setitem(sys.modules, "pyspacemouse", None)
    assert "pip install 'openral[spacemouse]'" in opened(InstallationError, check_pyspacemouse)
