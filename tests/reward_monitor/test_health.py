"""A frozen picture: the same to the bit for a second while the robot moves, whatever order its messages come in."""

from __future__ import annotations

import numpy as np

from openral_reward_monitor.camera_health import CameraHealth

PICTURE = np.full((8, 8, 3), 100, np.uint8)


def seen(health: CameraHealth, begin_s: float, end_s: float) -> None:
    """Show the same picture twenty times a second."""
    for stamp_s in np.arange(begin_s, end_s, 0.05):
        health.frame(float(stamp_s), PICTURE.copy())


def test_a_picture_that_stays_while_the_robot_moves_is_frozen() -> None:
    health = CameraHealth()
    health.joints(np.array([0.0]), 1.0)
    seen(health, 1.0, 1.6)
    health.joints(np.array([0.0]), 1.1)
    health.joints(np.array([0.5]), 1.5)
    assert not health.frozen
    seen(health, 1.6, 2.2)
    assert health.frozen
    health.frame(2.3, PICTURE + 1)
    assert not health.frozen


def test_joint_states_that_come_late_are_no_motion_after_the_picture() -> None:
    """The arm came to rest at 1.0 s, and the picture shows it; what tells of the way there is heard afterwards."""
    health = CameraHealth()
    health.joints(np.array([0.0]), 0.8)
    health.frame(1.0, PICTURE)
    health.joints(np.array([0.3]), 0.9)
    health.joints(np.array([0.5]), 1.0)
    health.joints(np.array([0.5]), 1.1)
    seen(health, 1.05, 4.0)
    assert not health.frozen


def test_joint_states_without_a_stamp_count_when_they_come() -> None:
    health = CameraHealth()
    health.joints(np.array([0.0]))
    seen(health, 1.0, 1.5)
    health.joints(np.array([0.0]))
    health.joints(np.array([0.5]))
    seen(health, 1.5, 2.2)
    assert health.frozen


def test_without_joint_states_the_picture_alone_decides() -> None:
    health = CameraHealth()
    seen(health, 1.0, 2.2)
    assert health.frozen
