"""Who may move the arm: nodes that announced themselves on `skills`, and the goals that they hold.

Policy nodes announce themselves; whatever else is to move the arm, such as teleoperation, does it the same
way: a SkillInfo with its name, `active`, a goal id and the length of its chunks, again every second.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field

EXPIRY_S = 5.0
"""[s] wall time after which a node that says nothing holds no goal any more."""
DISCOVERY_S = 2.0
"""[s] wall time within which a node that announces itself must appear in the graph."""
MAX_SKILLS = 64
"""How many skills of nodes may be announced at a time."""
MAX_ENDED = 256
"""How many ended goals are remembered, so that none of them comes back."""


@dataclass(frozen=True)
class GoalAnnouncement:
    """What one node says of itself."""

    node: str
    """Fully qualified name."""
    skill: str
    """Manifest name of what it runs; its chunks carry the same."""
    active: bool
    goal_id: str
    """Hex UUID of the goal that it runs, or empty."""
    horizon_s: float
    """[s] length of its chunks; <= 0: it did not say."""


@dataclass
class _Entry:
    said: GoalAnnouncement
    since_s: float
    """[s] monotonic, of the first announcement."""
    heard_s: float
    """[s] monotonic, of the last one."""
    in_graph: bool = field(default=False)


class GoalRegistry:
    """The announced nodes that are active. All times are monotonic wall time [s]; not safe for several threads."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        # Keyed by node and skill: a node may host several, and runs one goal at a time.
        self._ended: OrderedDict[str, None] = OrderedDict()

    def announce(self, said: GoalAnnouncement, now_s: float) -> list[str]:
        """Note what a node says of itself.

        Returns:
            The goals that have ended by it: a node holds one at a time, and none when it is not active.

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
        """Forget the nodes that have said nothing for too long; one that speaks again has its goal again."""
        self._entries = {k: entry for k, entry in self._entries.items() if now_s - entry.heard_s <= EXPIRY_S}

    def compare(self, present: Collection[str], now_s: float) -> list[str]:
        """Forget the nodes that are not in the graph; return the goals that have ended by it.

        Args:
            present: fully qualified names of the nodes that are in the graph.
            now_s: now. A node that was never seen there is given time to be discovered.
        """
        absent = []
        for key, entry in self._entries.items():
            if entry.said.node in present:
                entry.in_graph = True
            elif entry.in_graph or now_s - entry.since_s > DISCOVERY_S:
                absent.append(key)
        return [goal for key in absent for goal in self._end(self._entries.pop(key))]

    def end_all(self) -> None:
        """End every goal that is held now; none of them comes back."""
        for entry in self._entries.values():
            self._end(entry)

    def holder(self, goal_id: str, skill: str) -> GoalAnnouncement | None:
        """Return what the node that runs this goal with this skill says of itself; None: there is none."""
        for entry in self._entries.values():
            said = entry.said
            is_it = bool(goal_id) and (said.goal_id, said.skill) == (goal_id, skill)
            if is_it and goal_id not in self._ended:
                return said
        return None

    def holds(self, goal_id: str) -> bool:
        """Whether some node holds the goal, whatever its skill."""
        return any(entry.said.goal_id == goal_id for entry in self._entries.values())

    def has_ended(self, goal_id: str) -> bool:
        """Whether the goal was held and is over."""
        return goal_id in self._ended

    def why_not(self, goal_id: str, skill: str) -> str:
        """Return why a chunk of this goal and skill has no holder, in words."""
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
