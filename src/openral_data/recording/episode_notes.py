"""The metadata of an episode that is being recorded."""

from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

from openral_core.teleoperation_names import TELEOPERATION
from openral_data.recording.frame import RecordedFrame
from openral_data.recording.outcome import FAILURE, SUCCESS, UNKNOWN

POLICY = "vla"
WALL_CLOCK_NS = 10**18
"""[ns] times of reception from here on (2001) are of the computer's clock; those of a simulated clock begin at 0."""


@dataclass(frozen=True)
class SkillNote:
    """The announcement of a skill and its goal on `/openral/skills`."""

    name: str
    kind: str
    version: str
    node: str
    goal_id: str
    """Hex UUID of its goal; empty: it runs none."""

    @property
    def demonstrates(self) -> bool:
        """Whether its goals are recorded as episodes, as those of policies and teleoperation but not of motions."""
        return self.kind in (POLICY, TELEOPERATION)

    @property
    def by_hand(self) -> bool:
        """Whether it is teleoperation."""
        return self.kind == TELEOPERATION


@dataclass
class EpisodeNotes:
    """Metadata that is collected during an episode, for its segment and for `meta/episodes` (see `about`)."""

    strategy: str
    scene: str
    by_order: bool
    """Whether it was begun by the order start, so that only an order ends it."""
    skill: SkillNote | None = None
    sentence: str = ""
    sim_task: str = ""
    """The skill's own id of the mission's active task; empty: there is none."""
    mission: str = ""
    operator: str = UNKNOWN
    reward_model: str = UNKNOWN
    begin_s: float = -1.0
    """[s] stamp of the first frame on the bridge's clock; -1: none yet."""
    end_s: float = -1.0
    """[s] stamp of the newest step on the bridge's clock; -1: none yet."""
    begin_ns: int = 0
    """[ns since 1970] time of reception of the newest message before the first frame."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    """The scene's tasks by phrases in lower case (`task_words`)."""
    world: int = 0
    """Number of times that the world began anew before the episode, since the recorder did."""
    truncated: bool = False
    """Whether the recording ends before the episode does."""
    recording_id: str = field(default_factory=lambda: uuid4().hex)
    started: str = field(
        default_factory=lambda: datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    )
    began_s: float = field(default_factory=time.monotonic)
    content: Any = field(default_factory=hashlib.sha256)
    """SHA-256 of the states and executed actions of the frames that `recorded` was called with."""

    def reading(self, succeeded: bool, abstained: bool) -> None:
        """Add a reading of the reward monitor; the last one without abstention counts."""
        if not abstained:
            self.reward_model = SUCCESS if succeeded else FAILURE

    def recorded(self, frame: RecordedFrame) -> None:
        """Add a frame to the content that `name_by_content` goes by."""
        for numbers in (frame.state, frame.joints, frame.executed):
            self.content.update(numbers.tobytes())

    def name_by_content(self) -> None:
        """Derive `recording_id` from the content, so that the same bag always results in the same id.

        It depends on the beginning and the goal's id, so that an episode whose bag was cut off has the same one. A
        simulated clock begins anew with each reset, and episodes without a goal that were received by it may have the
        same times; so theirs depends on the sentence and on all states and actions, too.
        """
        rest = self.skill.goal_id if self.skill else ""
        if not rest and self.begin_ns < WALL_CLOCK_NS:
            rest = f"{self.sentence} {self.content.hexdigest()}"
        self.recording_id = uuid5(NAMESPACE_OID, f"{self.begin_ns} {self.begin_s:.9f} {rest}").hex

    def about(self) -> dict[str, Any]:
        """Return the metadata as JSON values."""
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
