"""`openral demo --disturb`: a grasp is opened in the lift, and what is tried then is another way."""

from __future__ import annotations

import json

import pytest
from system_stack import Stack

from openral_core.mission_record import load_steps

WAYS = ("motions", "grasp", "home", "restage")


@pytest.mark.long
def test_a_grasp_that_opens_in_the_lift_is_answered_by_another_way(tmp_path, monkeypatch):
    """How often the mission is then done is a matter of rates (docs/motions.md); what is tried, and told, is not."""
    # What earlier missions taught would change the order.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Stack(tmp_path, "openral", "demo", "--disturb", "--no-video") as stack:
        code = stack.wait()
        assert not stack.errors
    [run] = tmp_path.glob("runs/*")
    summary, steps = json.loads((run / "summary.json").read_text()), load_steps(run)
    kinds = [step.kind for step in steps]
    if not summary["disturbances"]:
        pytest.skip("the policy lifted nothing in this run, so nothing could be opened")
    [struck] = summary["disturbances"]
    assert "the gripper was opened" in struck
    assert struck in stack.output.replace("\n", " ")
    assert (code == 0) is summary["passed"]
    [task] = summary["tasks"]
    assert summary["passed"] is (summary["state"] == "done" and task["simulator_success"])
    ways = [kind for kind in kinds if kind in WAYS]
    if task["attempts"] > 1 or summary["state"] != "done":
        assert ways, [(step.kind, step.reason) for step in steps if step.kind != "reading"]
        assert ways[0] == "motions", "another means comes before the same one again"
        assert kinds.index("attempt") < kinds.index("motions")
