"""Counts of what a run of missions showed, for the memory by which the ladder chooses what it tries first.

A memory learns from the missions of its own deployment, by the verdicts of its reward monitor. A simulator can be asked
for many missions, and its verdict is the true one: what counts here is whether an episode was solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openral_core.errors import ManifestError
from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.ladder.experience import FIRST
from openral_reasoner.mission.ladder.rungs import Rung

WAYS: Mapping[str, str] = {"home": FIRST, "script": Rung.MOTIONS.value}
"""Row -> the way of trying a task that it consists of: the policy from its start pose, and motions alone."""


def count_into(outcomes: Outcomes, content: Mapping[str, Any]) -> int:
    """Add every episode of the rows in `WAYS` to counts, and return how many there were.

    Args:
        outcomes: they are added to.
        content: the result of a suite of missions.

    Raises:
        ManifestError: the result holds no such episode.
    """
    skill = content["eval_config"].get("vla_id", "")
    episodes = [each for each in content["results"].get("episodes", []) if each.get("row") in WAYS]
    played = [each for each in episodes if not each["error"]]
    if not played:
        raise ManifestError(
            f"the result holds no episode of the rows {' and '.join(WAYS)}; "
            "run a suite of missions with --row home --row script"
        )
    for each in played:
        task = str(each["task"]).rsplit("/", 1)[-1]
        outcomes.add(skill, task, WAYS[each["row"]], bool(each["success"]))
    return len(played)
