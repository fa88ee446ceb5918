"""`ros2 doctor` on a real rclpy."""

from __future__ import annotations

import os
import subprocess

from real_ros2 import RealRos2


def doctor(real: RealRos2, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(real.python.with_name("ros2")), "doctor", *words]
    environment = {**real.environment, "ROS_DOMAIN_ID": os.environ["ROS_DOMAIN_ID"], **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_the_installation_is_sound_and_reported(real: RealRos2) -> None:
    checked = doctor(real)
    assert (checked.returncode, checked.stdout.strip()) == (0, "All 6 checks passed"), checked.stderr
    said = doctor(real, "--report").stdout
    for words in ("rmw_fastrtps_cpp", "runtime            : ROS 2", "rclpy  ", "local=7."):
        assert words in said


def test_a_middleware_that_is_not_installed_is_named(real: RealRos2) -> None:
    checked = doctor(real, RMW_IMPLEMENTATION="rmw_nonsense")
    assert checked.returncode != 0
    assert (
        "RMW_IMPLEMENTATION is rmw_nonsense, which is not installed; there is rmw_fastrtps_cpp"
        in checked.stderr
    )
