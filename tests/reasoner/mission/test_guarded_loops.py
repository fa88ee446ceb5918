"""A task that has both a condition before it and a repetition after it."""

from __future__ import annotations

from director_desk import SKILL, Desk

from openral_reasoner.condition import Condition, Guard, Until
from openral_reasoner.mission.attempt import AskWorld
from openral_reasoner.mission.mission import MissionState
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan, PlannedTask, Proposal

DRAWER = Condition(text="the drawer is open", task="open the drawer")
WINDOW = Condition(text="the window is open", task="open the window")


class GuardedLoop:
    """Plans "if the drawer is open, push the button until the window is open"."""

    def plan(self, sentence: str, palette: Palette) -> Proposal:
        push = PlannedTask("push the button", SKILL, "", "push the button", 1.0, Guard(DRAWER), Until(WINDOW))
        return Plan((push,))


def test_a_repetition_with_a_condition_before_it_ends() -> None:
    desk = Desk(planner=GuardedLoop())

    def world(asked: AskWorld) -> bool:
        return asked.condition == DRAWER or len(desk.sent) >= 2

    desk.world = world
    desk.say("if the drawer is open, push the button until the window is open")
    desk.run(20, 0.9)
    assert len(desk.sent) == 2
    assert desk.mission.state is MissionState.DONE, desk.mission.message
