"""What an operator's hand on the arm is called in the graph."""

TELEOPERATION = "teleoperation"
"""Kind in the `openral/msg/SkillInfo` of a node through which an operator moves the arm. It announces itself so that
the bridge executes its chunks; a reasoner asks nothing of it."""
TAKEN_OVER = ("paused", "correcting")
"""What `intervention` of `openral/msg/ControlStatus` says while an operator has the arm, and every goal waits."""
