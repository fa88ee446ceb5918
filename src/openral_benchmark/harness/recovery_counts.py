"""Adds the results of simulated missions to the counts by which the ladder chooses what it tries first.

In a deployment the counts come from its own missions, by the verdicts of its reward monitor. Simulated missions are
many, and what is counted of them is the simulator's true verdict whether the episode was solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openral_core.errors import ManifestError
from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.mission.ladder.experience import FIRST
from openral_reasoner.mission.ladder.rungs import Rung

WAYS: Mapping[str, str] = {"home": FIRST, "script": Rung.MOTIONS.value}
"""Row -> the rung that it is counted as: the policy from its start pose (`FIRST`), and motions alone."""


def count_into(outcomes: Outcomes, content: Mapping[str, Any]) -> int:
    """Add every episode with a result, of the rows in `WAYS`, to counts, and return how many there were.

    Args:
        outcomes: the counts that are changed.
        content: the result of a suite of missions.

    Raises:
        ManifestError: the result holds none.
    """
    skill = content["eval_config"].get("vla_id", "")
    episodes = [each for each in content["results"].get("episodes", []) if str(each.get("row")) in WAYS]
    played = [each for each in episodes if not each.get("error")]
    if not played:
        raise ManifestError(
            f"the result holds no episode of the rows {' and '.join(WAYS)}; "
            "run a suite of missions with --row home --row script"
        )
    for each in played:
        task = str(each["task"]).rsplit("/", 1)[-1]
        outcomes.add(skill, task, WAYS[each["row"]], bool(each["success"]))
    return len(played)
