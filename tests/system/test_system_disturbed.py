"""`openral demo --disturb`: a grasp is opened in the lift, and the mission ends done by another way."""

from __future__ import annotations

import json
from pathlib import Path

from system_stack import Stack

from openral_core.mission_record import load_steps

RUNS = 3
"""Where the puck falls is chance, and sometimes the policy takes it again by itself, or the monitor errs; what is shown
is that another way leads to the end, not how often (docs/motions.md has that)."""
WAYS = ("motions", "grasp", "home", "restage")


def demo(folder: Path) -> tuple[int, Path]:
    """Run the demo; return its exit code and its run folder."""
    with Stack(folder, "openral", "demo", "--disturb", "--no-video") as stack:
        code = stack.wait()
        assert not stack.errors
    [run] = folder.glob("runs/*")
    return code, run


def test_a_grasp_that_opens_in_the_lift_is_made_good_by_another_way(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "XDG_DATA_HOME", str(tmp_path / "data")
    )  # what earlier missions taught would change the order
    for number in range(RUNS):
        code, run = demo(tmp_path / str(number))
        summary, kinds = json.loads((run / "summary.json").read_text()), [s.kind for s in load_steps(run)]
        [struck] = summary["disturbances"]
        assert "the gripper was opened" in struck
        assert (code == 0) is summary["passed"]
        if summary["passed"] and any(kind in WAYS for kind in kinds):
            break
    [task] = summary["tasks"]
    assert (summary["state"], task["simulator_success"]) == ("done", True), summary
    assert task["attempts"] > 1
    ways = [kind for kind in kinds if kind in WAYS]
    assert ways[0] == "motions", "another means comes before the same one again"
    assert kinds.index("attempt") < kinds.index("motions") < kinds.index("done")
