"""A Panda's driver with a libfranka whose recovery takes as long as one in which the brakes open.

After the answer, the arm is in the mode of a recovery for a moment, in which it takes no commands; its joints are at 1.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from openral_control.safety.joint_limits import limits_of
from openral_core.hardware.arm_mode import ArmMode
from openral_core.robot import load_robot
from openral_core.scene_arm import SafetyLimits

LIBFRANKA = """
import time
from types import SimpleNamespace

RealtimeConfig = SimpleNamespace(kIgnore=0)
RobotMode = SimpleNamespace(kReflex=4, kMove=2)


class Robot:
    def __init__(self, address, config):
        self.mode = RobotMode.kReflex

    def set_collision_behavior(self, *thresholds):
        pass

    def server_version(self):
        return 5

    def read_once(self):
        time.sleep(0.001)
        zeros = [0.0] * 7
        if self.mode == 6 and time.monotonic() > self.recovered_s:
            self.mode = 1
        recovering = self.mode == 6
        return SimpleNamespace(
            q=[1.0] * 7 if recovering else zeros, dq=zeros, tau_ext_hat_filtered=zeros, robot_mode=self.mode,
            current_errors="[]", last_motion_errors="[]",
        )

    def automatic_error_recovery(self):
        time.sleep(1.8)
        self.mode, self.recovered_s = 6, time.monotonic() + 0.3
"""


def test_a_recovery_in_which_the_brakes_open_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("panda_py", reason="the extra [panda] is not installed: Linux on x86_64 only")
    from openral_robot_bridge.drivers.panda.panda_driver import PandaDriver

    package = tmp_path / "panda_py"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "libfranka.py").write_text(LIBFRANKA)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    driver = PandaDriver("127.0.0.3", limits_of(load_robot("panda")), 0.004, SafetyLimits())
    try:
        driver.connect()
        assert driver.read().mode is ArmMode.REFLEX
        driver.recover()
        state = driver.read()
        assert state.mode is ArmMode.IDLE
        assert np.array_equal(state.positions, np.zeros(7))
    finally:
        driver.close()
