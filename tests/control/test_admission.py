"""The door of the control loop: whose chunks pass, whose wait, and whose go."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from openral_control.admission import MAX_WAITING, PATIENCE_S, Admission
from openral_control.chunk_queue import Chunk
from openral_control.goal_registry import (
    DISCOVERY_S,
    EXPIRY_S,
    MAX_ENDED,
    MAX_SKILLS,
    GoalAnnouncement,
    GoalRegistry,
)
from openral_control.ros.bridge_node_base import ControlNode

A, B, C = "a" * 32, "b" * 32, "c" * 32
MINE = GoalAnnouncement("/openral/policy/mine", "t/mine", True, A, 0.2)
OTHER = GoalAnnouncement("/openral/policy/other", "t/other", True, B, 0.4)


def chunk(goal=A, skill="t/mine", sequence=0):
    return Chunk(0.0, goal, skill, "go", "r", sequence, 2, 4, 0.0125, np.zeros(8, np.float32))


class Door:
    """An admission whose clock is turned by hand."""

    def __init__(self):
        self.inside, self.refused, self.now = [], [], 1000.0
        self.admission = Admission(self.inside.append, lambda chunk, why: self.refused.append((chunk, why)))

    def offer(self, chunk):
        self.admission.offer(chunk, self.now)

    def announce(self, said, **changes):
        self.admission.announce(dataclasses.replace(said, **changes), self.now)

    def look(self, present=None):
        self.admission.look(present, self.now)


@pytest.fixture
def door():
    return Door()


def test_a_chunk_of_an_announced_goal_passes_with_the_announced_horizon(door):
    door.announce(MINE)
    door.offer(chunk())
    assert [c.goal_id for c in door.inside] == [A]
    assert door.inside[0].horizon_limit_s == 0.2


def test_a_chunk_that_comes_as_the_emergency_stop_is_reset_is_of_a_goal_that_has_ended(door):
    """A goal that a foreign node announced while the stop was latched."""
    door.announce(MINE)
    run = SimpleNamespace(release=lambda: door.offer(chunk()))
    node = SimpleNamespace(_run=run, _admission=door.admission, _publish_status=lambda: None)
    ControlNode._switch_estop(node, False)
    assert not door.inside
    assert "has ended" in door.refused[0][1]


def test_an_invented_goal_waits_a_moment_and_is_refused(door):
    door.announce(MINE)
    door.offer(chunk(C))
    door.now += PATIENCE_S
    door.look()
    assert door.refused == []
    door.now += 0.01
    door.look()
    [(_, why)] = door.refused
    assert why == f"no active node announces goal {C} on its topic `skills`"
    assert door.inside == []
    assert door.admission.refused == 1


def test_chunks_that_came_before_their_announcement_pass_in_their_order(door):
    for sequence in range(3):
        door.offer(chunk(sequence=sequence))
    assert door.inside == []
    door.announce(MINE)
    assert [c.sequence for c in door.inside] == [0, 1, 2]


def test_the_skill_must_be_the_announcing_nodes(door):
    door.announce(MINE)
    door.offer(chunk(A, "t/other"))
    [(_, why)] = door.refused
    assert why == f"goal {A} is of t/mine, the chunk says t/other"


def test_the_end_of_a_goal_ends_its_motion_whichever_message_comes_first(door):
    door.announce(MINE)
    door.offer(Chunk.end_of(A))
    assert door.inside[-1].ends_goal
    door.announce(MINE, goal_id="")
    assert door.inside[-1].ends_goal
    assert door.inside[-1].goal_id == A
    passed = len(door.inside)
    door.offer(Chunk.end_of(A))
    door.offer(chunk())
    assert len(door.inside) == passed
    assert door.refused[-1][1] == f"goal {A} has ended"
    door.announce(MINE)
    door.offer(chunk())
    assert len(door.inside) == passed, "an ended goal does not come back"


def test_the_end_drops_what_waits(door):
    door.offer(chunk())
    door.offer(Chunk.end_of(A))
    door.announce(MINE)
    assert door.inside == []


def test_strangers_neither_end_nor_displace_anything(door):
    door.announce(MINE)
    for number in range(3 * MAX_WAITING):
        door.offer(chunk(f"{number:032x}", "t/mine"))
        door.offer(Chunk.end_of(f"{number:032x}"))
    for _ in range(100):
        door.offer(chunk(C))
    door.offer(chunk())
    assert [c.goal_id for c in door.inside] == [A]
    for number in range(3 * MAX_WAITING):
        door.offer(chunk(f"{number:032x}", "t/mine"))
    assert len(door.admission._waiting) <= MAX_WAITING


def test_a_node_that_leaves_its_active_state_ends_its_goal(door):
    door.announce(MINE)
    door.announce(MINE, active=False)
    assert door.inside[-1].ends_goal
    door.offer(chunk())
    assert door.refused


def test_a_node_has_one_goal_whichever_of_its_skills_it_is_of(door):
    door.announce(MINE)
    door.announce(OTHER)
    door.announce(MINE, skill="t/second", goal_id=C)
    assert [(c.goal_id, c.ends_goal) for c in door.inside] == [(A, True)]
    door.announce(MINE, skill="t/second", goal_id=C)
    door.announce(MINE, skill="t/third", goal_id="")
    assert len(door.inside) == 1, "a skill without a goal ends none"


def test_a_node_that_leaves_the_graph_ends_its_goal_and_one_never_seen_there_has_time(door):
    door.announce(MINE)
    door.announce(OTHER)
    door.look({OTHER.node})
    assert door.inside == [], "discovery may take a moment"
    door.now += DISCOVERY_S + 0.1
    door.announce(MINE)
    door.announce(OTHER)
    door.look({OTHER.node})
    assert [(c.goal_id, c.ends_goal) for c in door.inside] == [(A, True)]
    door.look(set())
    assert [(c.goal_id, c.ends_goal) for c in door.inside] == [(A, True), (B, True)]


def test_a_silent_node_holds_nothing_until_it_speaks_again(door):
    door.announce(MINE)
    door.now += EXPIRY_S + 0.1
    door.offer(chunk())
    assert door.inside == []
    door.announce(MINE)  # within the patience of what waits
    assert [c.goal_id for c in door.inside] == [A]


def test_the_emergency_stop_ends_every_goal_for_good(door):
    door.announce(MINE)
    door.offer(chunk(C))
    door.admission.end_all()
    door.announce(MINE)
    door.announce(OTHER, goal_id=C)
    door.offer(chunk())
    assert door.inside == []
    door.announce(MINE, goal_id=B)
    door.offer(chunk(B))
    assert [c.goal_id for c in door.inside if not c.ends_goal] == [B]


def test_the_registry_is_bounded():
    registry = GoalRegistry()
    for number in range(MAX_SKILLS):
        registry.announce(dataclasses.replace(MINE, node=f"/n{number}"), 0.0)
    with pytest.raises(LookupError):
        registry.announce(OTHER, 0.0)
    registry.announce(OTHER, EXPIRY_S + 0.1)
    assert registry.holder(B, "t/other") == OTHER
    for number in range(10 * MAX_ENDED):
        registry.announce(dataclasses.replace(OTHER, goal_id=f"{number:032x}"), EXPIRY_S + 0.2)
    assert len(registry._ended) == MAX_ENDED
