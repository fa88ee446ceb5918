"""The skills a mission may use now: deployed, active, for this body, under a licence that allows it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from openral_core.manifest import StartPose
from openral_reasoner.word_stems import words
from openral_rskill.playbook_procedure import Procedure

MOTION = "ros_action"
"""Kind of a skill that is an analytic motion, which measures itself whether it got where it was sent."""
ANY_BODY = "any"
"""Embodiment tag of a skill that fits every robot."""


@dataclass(frozen=True)
class SkillTask:
    """One task of a skill, with the phrases it was trained or tested with."""

    id: str
    phrases: tuple[str, ...] = ()
    leaves: str = "anything"
    """What is in the hand when it is done: nothing, object, anything."""

    @property
    def phrase(self) -> str:
        """The skill's own words for the task: its first example, or its id in words."""
        return self.phrases[0] if self.phrases else " ".join(words(self.id))


@dataclass(frozen=True)
class Skill:
    """A skill as its policy node announces it in `openral/msg/SkillInfo`."""

    name: str
    """Manifest name, owner/rskill-x."""
    slug: str
    node: str
    """Fully qualified node name."""
    action_server: str
    """Fully qualified action name."""
    active: bool = True
    kind: str = "vla"
    description: str = ""
    license: str = "unknown"
    commercial_use: bool = True
    embodiment_tags: tuple[str, ...] = (ANY_BODY,)
    actions: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    scenes: tuple[str, ...] = ()
    tasks: tuple[SkillTask, ...] = ()
    max_execution_s: float = 0.0
    """[s] deadline the skill suggests; 0: none."""
    start_poses: tuple[StartPose, ...] = ()
    """Where the hand stands when it begins."""
    leaves: str = "anything"
    """What it leaves in the hand: nothing, object, anything."""
    goal_params_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """JSON Schema of the parameters of a goal; None: it takes none."""

    @property
    def judges_itself(self) -> bool:
        """Whether its own result says how it ended, as a motion's does, which measures where it arrived."""
        return self.kind == MOTION

    def start_of(self, task: str) -> StartPose | None:
        """Return where the hand stands when the skill begins a task; None: it was not recorded."""
        known = {start.task: start for start in self.start_poses}
        return known.get(task) or known.get(None)

    @staticmethod
    def parse_tasks(
        ids: Sequence[str], examples: Sequence[str], leaves: Sequence[str] = ()
    ) -> tuple[SkillTask, ...]:
        """Join the parallel lists of SkillInfo: task ids, phrases joined by '|', and what each leaves in the hand."""
        said = [
            tuple(phrase.strip() for phrase in joined.split("|") if phrase.strip()) for joined in examples
        ]
        joined = zip_longest(ids, said[: len(ids)], leaves[: len(ids)])
        return tuple(SkillTask(task, phrases or (), left or "anything") for task, phrases, left in joined)


@dataclass(frozen=True)
class Palette:
    """The usable skills, and why others are not among them."""

    skills: tuple[Skill, ...] = ()
    excluded: dict[str, str] = field(default_factory=dict)
    """Skill name -> one sentence."""
    playbooks: tuple[Procedure, ...] = ()
    """Written procedures whose skills are all here."""
    recoveries: tuple[Procedure, ...] = ()
    """Playbooks whose steps may replace a failed task; set only while such steps are planned."""

    def find(self, name: str) -> Skill | None:
        """Return the skill of a manifest name; None: it may not be used now."""
        return next((skill for skill in self.skills if skill.name == name), None)

    def motion(self, name: str) -> Skill | None:
        """Return the motion of a name such as `home` or `move_to`; None: it may not be used now."""
        ending = f"/rskill-motion-{name.replace('_', '-')}"
        return next((s for s in self.skills if s.kind == MOTION and s.name.endswith(ending)), None)

    @property
    def words(self) -> frozenset[str]:
        """All words of the tasks, objects and actions of its skills."""
        texts = [
            phrase for skill in self.skills for task in skill.tasks for phrase in (task.phrase, *task.phrases)
        ]
        texts += [name for skill in self.skills for name in (*skill.objects, *skill.actions)]
        return frozenset(word for text in texts for word in words(text))

    def by_phrase(self) -> dict[tuple[str, ...], tuple[Skill, SkillTask]]:
        """Return words of a phrase -> the task that it is a phrase of; a policy's comes before a motion's."""
        return {
            tuple(words(phrase)): (skill, task)
            for skill in sorted(self.skills, key=lambda skill: skill.judges_itself)[::-1]
            for task in skill.tasks
            for phrase in (task.phrase, *task.phrases)
        }

    @property
    def has_policies(self) -> bool:
        """Whether some usable skill is not a motion."""
        return any(skill.kind != MOTION for skill in self.skills)


def build_palette(
    deployed: Iterable[Skill],
    *,
    embodiment_tags: Collection[str] = (),
    commercial: bool = True,
    scene_tasks: Collection[str] = (),
) -> Palette:
    """Return the usable skills of those that are deployed, and why the others are not.

    Args:
        deployed: one entry for each policy node in the graph.
        embodiment_tags: of this robot; empty: the body is not checked.
        commercial: refuse skills whose licence excludes commercial use.
        scene_tasks: tasks that the scene offers; of a skill that knows some of them only these remain.
            Empty: all remain.
    """
    usable: list[Skill] = []
    excluded: dict[str, str] = {}
    for skill in sorted(deployed, key=lambda skill: skill.name):
        reason = _why_not(skill, embodiment_tags, commercial)
        if reason:
            excluded[skill.name] = reason
            continue
        present = tuple(task for task in skill.tasks if task.id in scene_tasks)
        usable.append(replace(skill, tasks=present) if present else skill)
    return Palette(tuple(usable), excluded)


def _why_not(skill: Skill, embodiment_tags: Collection[str], commercial: bool) -> str:
    if skill.kind not in ("vla", MOTION):
        return f"it is of kind {skill.kind}, which moves nothing"
    if not skill.active:
        return f"its node {skill.node} is not active"
    if commercial and not skill.commercial_use:
        return f"its licence {skill.license} excludes commercial use"
    tags = set(skill.embodiment_tags)
    if embodiment_tags and ANY_BODY not in tags and tags.isdisjoint(embodiment_tags):
        return f"it is for {', '.join(sorted(tags))}, this robot is {', '.join(sorted(embodiment_tags))}"
    return ""
