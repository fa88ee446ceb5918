"""What is known of an episode beside its frames."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

from openral_core.teleoperation_names import TELEOPERATION
from openral_data.recording.outcome import FAILURE, SUCCESS, UNKNOWN

POLICY = "vla"


@dataclass(frozen=True)
class SkillNote:
    """What a node says on `/openral/skills` of its skill and of the goal that it runs."""

    name: str
    kind: str
    version: str
    node: str
    goal_id: str
    """Empty: it runs none."""

    @property
    def demonstrates(self) -> bool:
        """Whether its goals are episodes: a policy's are, and those of an operator's hand; motions are not."""
        return self.kind in (POLICY, TELEOPERATION)

    @property
    def by_hand(self) -> bool:
        """Whether a person moves the arm through it."""
        return self.kind == TELEOPERATION


@dataclass
class EpisodeNotes:
    """Collected while an episode lasts; `about` is what the segment and `meta/episodes` keep."""

    strategy: str
    scene: str
    by_order: bool
    """Somebody called start; only stop ends it."""
    skill: SkillNote | None = None
    sentence: str = ""
    sim_task: str = ""
    """The skill's own id of the mission's task in work; empty: no mission is at it."""
    mission: str = ""
    operator: str = UNKNOWN
    reward_model: str = UNKNOWN
    begin_s: float = -1.0
    """[s] stamp of the first frame."""
    end_s: float = -1.0
    """[s] stamp of the newest step."""
    begin_ns: int = 0
    """[ns since 1970] when the newest message before the first frame was received."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    """The scene's tasks by words in lower case (`task_words`)."""
    truncated: bool = False
    """What is known of the episode ends before the episode does."""
    recording_id: str = field(default_factory=lambda: uuid4().hex)
    started: str = field(
        default_factory=lambda: datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    )
    began_s: float = field(default_factory=time.monotonic)

    def reading(self, succeeded: bool, abstained: bool) -> None:
        """Take a reading of the reward monitor; the last one that judges counts."""
        if not abstained:
            self.reward_model = SUCCESS if succeeded else FAILURE

    def name_by_content(self) -> None:
        """Make `recording_id` of what was recorded, so that the same bag always gives the same one.

        A goal's id and its beginning tell an episode from others; without a goal, its words and its end do, too.
        """
        goal_id = self.skill.goal_id if self.skill else ""
        rest = goal_id or f"{self.sentence} {self.end_s:.9f}"
        self.recording_id = uuid5(NAMESPACE_OID, f"{self.begin_ns} {self.begin_s:.9f} {rest}").hex

    def about(self) -> dict[str, Any]:
        """Return what is kept."""
        skill = self.skill
        return {
            "recording_id": self.recording_id,
            "sentence": self.sentence,
            "skill": skill.name if skill else "",
            "skill_version": skill.version if skill else "",
            "goal_id": skill.goal_id if skill else "",
            "scene": self.scene,
            "sim_task": self.tasks.get(self.sentence.casefold(), self.sim_task),
            "mission": self.mission,
            "strategy": self.strategy,
            "started": self.started,
            "begin_s": self.begin_s,
            "end_s": self.end_s,
            "truncated": self.truncated,
            "operator": self.operator,
            "reward_model": self.reward_model,
        }
