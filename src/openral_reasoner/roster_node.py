"""Which skills are there now: what policy nodes announced on `/openral/skills`, less those that went away."""

from __future__ import annotations

from dataclasses import replace

from openral.msg import SkillInfo
from rclpy.node import Node

from openral_reasoner.deployment import Deployment
from openral_reasoner.messages_node import skill_of
from openral_reasoner.palette import Palette, Skill, build_palette

PROGRESS = "/openral/progress"


class Roster:
    """The deployed skills, as far as a node of the graph can see them."""

    def __init__(self, node: Node, deployment: Deployment, *, commercial: bool, await_monitor: bool) -> None:
        """Begin with none.

        Args:
            node: looks into the graph.
            deployment: robot, tasks and playbooks.
            commercial: skills whose licence excludes commercial use may not be used.
            await_monitor: no skill may be used before a reward monitor was seen.
        """
        self._node, self._deployment, self._commercial = node, deployment, commercial
        self._monitor_seen = not await_monitor
        self._deployed: dict[str, Skill] = {}
        self._seen: set[str] = set()

    @property
    def servers(self) -> list[str]:
        """Action servers of the skills."""
        return [skill.action_server for skill in self._deployed.values()]

    def announce(self, info: SkillInfo) -> None:
        """A policy node told what it can do."""
        self._deployed[info.name] = skill_of(info)

    def take_lost(self) -> list[Skill]:
        """Forget, and return, the skills whose node was in the graph and is no more."""
        present = {
            f"{space.rstrip('/')}/{name}" for name, space in self._node.get_node_names_and_namespaces()
        }
        lost = []
        for skill in list(self._deployed.values()):
            if skill.node in present:
                self._seen.add(skill.node)
            elif skill.node in self._seen:
                self._seen.discard(skill.node)
                lost.append(self._deployed.pop(skill.name))
        return lost

    def palette(self) -> Palette:
        """What may be used now, and why other skills may not."""
        if self._node.get_clock().now().nanoseconds == 0:  # a deadline cannot begin before simulation time
            return Palette((), {"/clock": "simulation time has not begun"})
        if not self._monitor_watches():  # an attempt that begins before could only end unverified
            return Palette((), {PROGRESS: "the reward monitor does not watch yet"})
        palette = build_palette(
            self._deployed.values(),
            embodiment_tags=self._deployment.embodiment_tags,
            commercial=self._commercial,
            scene_tasks=self._deployment.scene_tasks,
        )
        usable = {skill.name for skill in palette.skills}
        books = (book for book in self._deployment.playbooks if usable.issuperset(book.skills))
        return replace(palette, playbooks=tuple(books))

    def _monitor_watches(self) -> bool:
        self._monitor_seen = self._monitor_seen or self._node.count_publishers(PROGRESS) > 0
        return self._monitor_seen
