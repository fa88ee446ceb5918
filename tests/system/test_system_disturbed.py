"""`openral demo --disturb`: a grasp is opened in the lift, and the mission ends done by another way."""

from __future__ import annotations

import json

from system_stack import Stack

from openral_core.mission_record import load_steps


def test_a_grasp_that_opens_in_the_lift_is_made_good_by_another_way(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "XDG_DATA_HOME", str(tmp_path / "data")
    )  # what earlier missions taught would change the order
    with Stack(tmp_path, "openral", "demo", "--disturb", "--no-video") as stack:
        code = stack.wait()
    [run] = tmp_path.glob("runs/*")
    summary, steps = json.loads((run / "summary.json").read_text()), load_steps(run)
    [struck] = summary["disturbances"]
    assert "the gripper was opened" in struck
    assert (code, summary["state"], summary["passed"]) == (0, "done", True), stack.output
    [task] = summary["tasks"]
    assert task["simulator_success"] is True
    assert task["attempts"] > 1
    kinds = [step.kind for step in steps]
    ways = [kind for kind in kinds if kind in ("motions", "grasp", "home", "restage")]
    assert ways[0] == "motions", "another means comes before the same one again"
    assert kinds.index("attempt") < kinds.index("motions") < kinds.index("done")
    assert all(step.reason for step in steps if step.kind in ways), "the operator hears why"
    assert not stack.errors
