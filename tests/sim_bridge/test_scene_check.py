"""`openral scene check`: what it says of scenes that ship, and of what a scene names beside its world."""

from __future__ import annotations

import pytest

from openral_sim_bridge.scene_check import check_scene


@pytest.mark.parametrize(
    ("name", "done", "undone"),
    [
        ("metaworld_drawer", "drawer-close-v3", "drawer-open-v3"),
        ("metaworld_window", "window-close-v3", "window-open-v3"),
    ],
)
def test_of_two_opposite_tasks_one_is_done_at_the_start(name: str, done: str, undone: str) -> None:
    report = check_scene(name, states=2)
    [row] = [row for row in report.rows if row.what == "tasks"]
    assert (row.ok, row.found) == (True, f"done at the start: {done}; not yet: {undone}")
    assert report.ok, [row for row in report.rows if not row.ok]
