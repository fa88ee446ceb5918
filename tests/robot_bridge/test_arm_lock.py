"""An arm that takes commands from anybody is moved by one program at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing

import pytest
from test_lookahead import ToldArm

from openral_core.scene import DeployScene
from openral_robot_bridge.driver import ArmError, ArmInfo
from openral_robot_bridge.drivers.fake import FakeDriver
from openral_robot_bridge.process_main import HostSettings
from openral_robot_bridge.robot_arm import RobotArm

ANOTHER = """
import sys
from openral_core.scene_arm import SceneArm
from openral_robot_bridge.drivers.arm_lock import ArmLock
for address in sys.argv[1:]:
    try:
        ArmLock(SceneArm(driver="sawyer", address=address), release_s=0.0)
        print("may move it")
    except Exception as error:
        print(error)
"""
"""Another program, which says whether it may move each of some arms."""


def another(*addresses: str) -> list[str]:
    words = [sys.executable, "-c", ANOTHER, *addresses]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def test_a_second_program_may_not_move_an_arm_until_the_first_is_done(
    scene_with: Callable[..., DeployScene],
) -> None:
    def told(settings: HostSettings) -> ToldArm:
        info, driver = ArmInfo(settings.limits, 0.08), FakeDriver(settings.limits, settings.start)
        return ToldArm(info, settings.limits, driver)

    def away(settings: HostSettings) -> ToldArm:
        raise ArmError("nobody answers")

    near, far, watched = (scene_with("sawyer", f"127.0.0.{number}") for number in (9, 10, 11))
    with closing(RobotArm(near, connect=told)), closing(RobotArm(watched, connect=told, shadow=True)):
        with pytest.raises(ArmError, match="nobody answers"):
            RobotArm(far, connect=away)
        refused, *others = another("127.0.0.9", "127.0.0.10", "127.0.0.11")
        assert refused.startswith(
            f"the arm at 127.0.0.9 is moved by process {os.getpid()} of this machine, `"
        )
        assert others == ["may move it", "may move it"]
    assert another("127.0.0.9") == ["may move it"]
