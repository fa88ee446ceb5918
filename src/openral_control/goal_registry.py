"""Registry of the nodes that may move the arm, which announce themselves on `skills`, and of the goals that they hold.

Policy nodes, and other nodes that move the arm such as teleoperation, publish a SkillInfo with their name, `active`, a
goal id and the length of their chunks, and repeat it every second.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

EXPIRY_S = 5.0
"""[s] wall time since its last announcement after which a node is removed."""
DISCOVERY_S = 2.0
"""[s] wall time from its first announcement within which a node must appear in the graph."""
MAX_SKILLS = 64
"""Largest number of announced skills, over all nodes."""
MAX_ENDED = 256
"""Number of ended goals that are remembered, so that they cannot be held again."""


@dataclass(frozen=True)
class GoalAnnouncement:
    """The announcement of one skill of a node."""

    node: str
    """Fully qualified name of the node."""
    skill: str
    """Manifest name of the skill, as in its chunks."""
    active: bool
    goal_id: str
    """Hex UUID of the goal that it runs; empty: none."""
    horizon_s: float
    """[s] length of its chunks; <= 0: not stated."""


@dataclass
class _Entry:
    said: GoalAnnouncement
    since_s: float
    """[s] monotonic, of the first announcement."""
    heard_s: float
    """[s] monotonic, of the last one."""
    in_graph: bool = field(default=False)


class GoalRegistry:
    """The announced skills that are active. Times are monotonic wall time [s]. Not thread-safe."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        # Keyed by node and skill: a node may host several skills, and runs one goal at a time.
        self._ended: OrderedDict[str, None] = OrderedDict()

    def announce(self, said: GoalAnnouncement, now_s: float) -> list[str]:
        """Register an announcement.

        Returns:
            The goals that end by it, since a node holds one goal at a time, and none with an inactive skill.

        Raises:
            LookupError: there are too many skills.
        """
        self.expire(now_s)
        ended: list[str] = []
        key = (said.node, said.skill)
        before = self._entries.get(key)
        if before is not None and before.said.goal_id != (said.goal_id if said.active else ""):
            ended = self._end(before)
        if said.active and said.goal_id:
            others = (e for k, e in self._entries.items() if k[0] == said.node and k != key)
            ended += [
                goal
                for entry in others
                if not self.has_ended(entry.said.goal_id)
                for goal in self._end(entry)
            ]
        if not said.active:
            self._entries.pop(key, None)
        elif before is not None:
            before.said, before.heard_s = said, now_s
        elif len(self._entries) < MAX_SKILLS:
            self._entries[key] = _Entry(said, now_s, now_s)
        else:
            raise LookupError(f"{MAX_SKILLS} skills are announced already")
        return ended

    def expire(self, now_s: float) -> None:
        """Remove nodes whose last announcement is too old; their goals do not end, and may be announced again."""
        self._entries = {k: entry for k, entry in self._entries.items() if now_s - entry.heard_s <= EXPIRY_S}

    def compare(self, present: Collection[str], now_s: float) -> list[str]:
        """Remove the nodes that are not in the graph; return their goals, which end.

        Args:
            present: fully qualified names of the nodes in the graph.
            now_s: [s] the present time. A node that was never in the graph has `DISCOVERY_S` to appear there.
        """
        absent = []
        for key, entry in self._entries.items():
            if entry.said.node in present:
                entry.in_graph = True
            elif entry.in_graph or now_s - entry.since_s > DISCOVERY_S:
                absent.append(key)
        return [goal for key in absent for goal in self._end(self._entries.pop(key))]

    def end_all(self) -> None:
        """End every held goal; none of them can be held again."""
        for entry in self._entries.values():
            self._end(entry)

    def holder(self, goal_id: str, skill: str) -> GoalAnnouncement | None:
        """Return the announcement of this goal with this skill; None: there is none, or the goal has ended."""
        for entry in self._entries.values():
            said = entry.said
            is_it = bool(goal_id) and (said.goal_id, said.skill) == (goal_id, skill)
            if is_it and goal_id not in self._ended:
                return said
        return None

    def holds(self, goal_id: str) -> bool:
        """Return whether a node announces the goal, with any skill."""
        return any(entry.said.goal_id == goal_id for entry in self._entries.values())

    def has_ended(self, goal_id: str) -> bool:
        """Return whether the goal was held and has ended."""
        return goal_id in self._ended

    def why_not(self, goal_id: str, skill: str) -> str:
        """Return a message that tells why a chunk of this goal and skill has no holder."""
        if goal_id in self._ended:
            return f"goal {goal_id} has ended"
        for entry in self._entries.values():
            if entry.said.goal_id == goal_id:
                return f"goal {goal_id} is of {entry.said.skill}, the chunk says {skill}"
        return f"no active node announces goal {goal_id} on its topic `skills`"

    def _end(self, entry: _Entry) -> list[str]:
        goal = entry.said.goal_id
        if not goal:
            return []
        self._ended[goal] = None
        while len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)
        return [goal]
