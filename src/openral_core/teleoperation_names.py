"""Names of teleoperation in messages."""

TELEOPERATION = "teleoperation"
"""Kind in the `openral/msg/SkillInfo` of a node with which an operator moves the arm.

It announces itself so that the bridge executes its chunks; a reasoner sends it no goals."""
TAKEN_OVER = ("paused", "correcting")
"""Values of `intervention` in `openral/msg/ControlStatus` while an operator has the arm and all goals are paused."""
