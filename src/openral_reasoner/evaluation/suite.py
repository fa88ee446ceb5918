"""A suite of written missions: the skills of a simulated deployment, and sentences with the tasks that they order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openral_core.errors import ManifestError
from openral_core.files.yaml_document import read_document
from openral_reasoner.palette import Palette, Skill, SkillTask

DEFAULT = Path(__file__).with_name("missions.yaml")
FREE = tuple(Path(__file__).with_name(f"free_fresh{number}.yaml") for number in ("", "2", "3", "4", "5"))
"""Sets of freely worded orders, each written before the rules of the planner that it was first used to judge."""
WORLDS = tuple(sorted(Path(__file__).parent.glob("world_*.yaml")))
"""Deployments with other skills than the shipped ones, each written without knowledge of the planner or other sets."""
ALWAYS = 10**6
"""Number of failing attempts of a task that never succeeds."""


@dataclass(frozen=True)
class WrittenMission:
    """One sentence, and what is to come of it."""

    kind: str
    say: str
    do: tuple[str, ...]
    """Tasks that are to be done, in their order; none: nothing may run."""
    world: frozenset[str] = frozenset()
    """Tasks that count as done before the mission begins."""
    fails: Mapping[str, int] = field(default_factory=dict)
    """Task -> attempts that fail before one succeeds."""
    answer: str = "I do not know"
    """What the operator says when asked."""

    @property
    def reachable(self) -> bool:
        """Whether everything that was ordered can be done."""
        return ALWAYS not in self.fails.values()


@dataclass(frozen=True)
class MissionSuite:
    """A deployment and the missions for it."""

    palette: Palette
    missions: tuple[WrittenMission, ...]


def load_suite(path: Path = DEFAULT) -> MissionSuite:
    """Read a suite.

    Raises:
        ManifestError: a mission is not in the form of the shipped suite; the text names it.
    """
    data: Any = read_document(path).data
    like = f"write it like {DEFAULT.name} of openral_reasoner.evaluation"
    if not isinstance(data, dict) or not {"skills", "missions"} <= set(data):
        raise ManifestError(f"{path}: is no suite, which has `skills` and `missions`; {like}")
    try:
        skills = tuple(_skill(entry) for entry in data["skills"])
        missions = tuple(_mission(kind, row) for kind, rows in data["missions"].items() for row in rows)
    except _NotText as error:
        raise ManifestError(f"{path}: {error}; {like}") from error
    except KeyError as error:
        raise ManifestError(f"{path}: an entry lacks the key {error}; {like}") from error
    except (TypeError, AttributeError, ValueError, IndexError) as error:
        raise ManifestError(f"{path}: an entry is not in the form of a suite; {like}") from error
    if not missions:
        raise ManifestError(f"{path}: has no missions, so there is nothing to judge; {like}")
    known = {task.id for skill in skills for task in skill.tasks}
    for mission in missions:
        if unknown := (set(mission.do) | mission.world | set(mission.fails)) - known:
            raise ManifestError(
                f"{path}: missions.{mission.kind}: '{mission.say}': no skill has {sorted(unknown)}"
            )
    return MissionSuite(Palette(tuple(sorted(skills, key=lambda skill: skill.name))), missions)


def _skill(entry: Mapping[str, Any]) -> Skill:
    slug = entry["name"].split("/", 1)[1].removeprefix("rskill-")
    return Skill(
        name=entry["name"],
        slug=slug,
        node=f"/openral/policy/{slug}",
        action_server=f"/openral/skills/{slug}/execute",
        actions=_texts(f"actions of {slug}", entry["actions"]),
        objects=_texts(f"objects of {slug}", entry["objects"]),
        scenes=_texts(f"scenes of {slug}", entry["scenes"]),
        tasks=tuple(SkillTask(task, _texts(f"tasks.{task}", said)) for task, said in entry["tasks"].items()),
        max_execution_s=5.0,
    )


class _NotText(Exception):
    """A value that has to be a text, or a list of texts, is another, as a number is without quotes."""


def _texts(where: str, values: Any) -> tuple[str, ...]:
    """Return a list of texts as a tuple; a single text is none, and would be taken letter by letter."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise _NotText(f"{where}: {str(values)[:60]!r}: has to be a list of texts, such as [open the drawer]")
    return tuple(values)


def _mission(kind: str, row: Mapping[str, Any]) -> WrittenMission:
    fails = {task: ALWAYS if n == "always" else int(n) for task, n in row.get("fails", {}).items()}
    texts = {"say": row["say"], "answer": row.get("answer", "I do not know")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise _NotText(f"missions.{kind}: {key} is {value!r}, and has to be a text, perhaps in quotes")
    return WrittenMission(
        kind,
        texts["say"],
        _texts(f"missions.{kind}: do", row["do"]),
        frozenset(_texts(f"missions.{kind}: world", row.get("world", []))),
        fails,
        texts["answer"],
    )
