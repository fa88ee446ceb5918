"""The skills that are there now: those that policy nodes announced on `skills`, without those that went away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from openral.msg import SkillInfo
from rclpy.node import Node

from openral_core.errors import ContractError
from openral_core.ros.qos import MAX_SKILLS
from openral_reasoner.deployment import Deployment
from openral_reasoner.palette import Palette, Skill, build_palette
from openral_reasoner.ros.messages import skill_of
from openral_reasoner.silence_watch import Heartbeats

PROGRESS = "progress"
"""Topic on which a reward monitor publishes its readings."""
UNNAMED_S = 3.0
"""[s] wall time without an announcement that names a running goal, after which its node counts as another one.

Nodes announce each goal as they accept it, and once a second."""


class SkillRegistry:
    """The deployed skills, as a node of the graph knows them. Not thread-safe."""

    def __init__(
        self, node: Node, deployment: Deployment, *, commercial: bool, await_monitor: bool, patience_s: float
    ) -> None:
        """Begin without skills.

        Args:
            node: whose view of the graph counts.
            deployment: robot, tasks and playbooks.
            commercial: whether skills are excluded whose licence excludes commercial use.
            await_monitor: whether no skill may be used before a reward monitor is in the graph.
            patience_s: [s] wall time without an announcement after which an active skill counts as lost.
        """
        self._node, self._deployment, self._commercial = node, deployment, commercial
        self._monitor_seen = not await_monitor
        self._deployed: dict[str, Skill] = {}
        self._made_of: tuple[Skill, ...] | None = None
        """The skills that `_palette` was made of."""
        self._palette = Palette()
        self._goals: dict[str, str] = {}
        self._seen: set[str] = set()
        self._beats = Heartbeats(patience_s)
        self._lost: set[str] = set()
        self._accepted: tuple[str, str] | None = None
        self._named = Heartbeats(UNNAMED_S)
        """The announcements of that goal's skill which name the goal."""

    @property
    def servers(self) -> list[str]:
        """Fully qualified action names of the skills."""
        return [skill.action_server for skill in self._deployed.values()]

    @property
    def moves(self) -> bool:
        """Whether some policy node announces that it runs a goal."""
        return any(self._goals.values())

    def announce(self, info: SkillInfo, wall_s: float) -> tuple[Skill, bool]:
        """Take the announcement of a policy node.

        Returns:
            The skill, and whether it is back after it was lost: a goal that it ran then is no longer watched.

        Raises:
            ContractError: a field of the message is wrong, or there are too many skills.
        """
        skill = skill_of(info)
        if skill.name not in self._deployed and len(self._deployed) >= MAX_SKILLS:
            raise ContractError(f"{skill.name} is one skill too many; {MAX_SKILLS} are taken up at most")
        self._deployed[skill.name], self._goals[skill.name] = skill, info.goal_id
        if skill.active:
            self._beats.beat(skill.name, wall_s)
        else:
            self._beats.forget(skill.name)  # a node that loads its weights says nothing for minutes
        returned = skill.name in self._lost
        self._lost.discard(skill.name)
        return skill, returned

    def take_lost(self, wall_s: float, accepted: tuple[str, str] | None = None) -> list[tuple[Skill, str]]:
        """Return, with the reason, the skills whose node was lost: it left the graph, or fell silent while active.

        They are forgotten, but not a skill whose node no longer runs a goal that it accepted, since another process of
        the same name has taken its place.

        Args:
            wall_s: [s] monotonic clock.
            accepted: name of the skill and hex UUID of the goal that its node accepted and has not ended; None: none.
        """
        present = {
            f"{space.rstrip('/')}/{name}" for name, space in self._node.get_node_names_and_namespaces()
        }
        silent = self._beats.silent(wall_s)
        lost: list[tuple[Skill, str]] = []
        for skill in list(self._deployed.values()):
            gone = skill.node in self._seen and skill.node not in present
            if gone or skill.name in silent:
                self._forget(skill)
                how = "went away" if gone else f"has been silent for {self._beats.patience_s:.0f} s"
                lost.append((skill, f"the policy node {skill.node} {how}"))
        if replaced := self._replaced(accepted, wall_s):
            skill = self._deployed[replaced]
            lost.append((skill, f"the policy node {skill.node} was started again and does not run the goal"))
        # A node may host several skills, and all of them go with it.
        self._seen = {skill.node for skill in self._deployed.values() if skill.node in present | self._seen}
        return lost

    def _replaced(self, accepted: tuple[str, str] | None, wall_s: float) -> str:
        """Return the skill whose announcements have not named its accepted goal for `UNNAMED_S`; empty: none."""
        silent = self._named.silent(wall_s)
        before, self._accepted = self._accepted, accepted
        if accepted is None:
            return ""
        name, goal_id = accepted
        if accepted != before or self._goals.get(name, goal_id) == goal_id:
            self._named.beat(name, wall_s)
            return ""
        return name if name in silent and name in self._deployed else ""

    def _forget(self, skill: Skill) -> None:
        del self._deployed[skill.name], self._goals[skill.name]
        self._beats.forget(skill.name)
        if len(self._lost) < MAX_SKILLS:
            self._lost.add(skill.name)

    def palette(self) -> Palette:
        """Return the skills that may be used now, and why others may not."""
        if self._node.get_clock().now().nanoseconds == 0:  # a deadline cannot begin before simulation time
            return Palette((), {"/clock": "simulation time has not begun"})
        if not self._monitor_watches():  # an attempt that begins before could only end unverified
            return Palette((), {PROGRESS: "the reward monitor does not watch yet"})
        deployed = tuple(self._deployed.values())
        if deployed != self._made_of:  # nodes announce the same each second, and it is asked for more often
            self._made_of, self._palette = deployed, self._palette_of(deployed)
        return self._palette

    def _palette_of(self, deployed: Sequence[Skill]) -> Palette:
        palette = build_palette(
            deployed,
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
