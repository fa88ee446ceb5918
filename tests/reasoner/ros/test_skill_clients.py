"""Goals and their action servers, one of which never comes."""

from __future__ import annotations

import os

import rclpy
from director_desk import SKILL

from openral_reasoner.mission.attempt import SendGoal
from openral_reasoner.ros.skill_client import SkillClients


def test_a_goal_that_was_never_sent_ends_with_its_cancellation() -> None:
    """A "stop" must not wait for a server that is not there."""
    context = rclpy.Context()
    context.init(domain_id=int(os.environ["ROS_DOMAIN_ID"]))
    node = rclpy.create_node("reasoner", context=context)
    ended: list[tuple[int, str]] = []
    clients = SkillClients(
        node,
        lambda callback, where: callback,
        lambda *answer: None,
        lambda key, report: ended.append((key, report.outcome)),
    )
    try:
        clients.send(SendGoal(7, SKILL, "open the drawer", "drawer-open-v3", 10.0))
        clients.cancel(7)
        assert ended == [(7, "CANCELED")]
        clients.cancel(7)
        assert len(ended) == 1
    finally:
        clients.close()
        node.destroy_node()
        context.try_shutdown()
