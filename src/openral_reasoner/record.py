"""The mission on disk: `mission.jsonl`, one step a line, and `mission.json`, the newest state."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from openral_reasoner.mission import LogEntry, Mission


class MissionRecord:
    """Writes a run folder. Every line is flushed, so a killed process loses nothing that was decided."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._final = folder / "mission.json"
        self._steps = (folder / "mission.jsonl").open("a", encoding="utf-8")

    def step(self, entry: LogEntry, wall_time: float) -> None:
        """Append one step.

        Args:
            entry: the step.
            wall_time: [s] since the epoch.
        """
        json.dump({**asdict(entry), "wall_time": round(wall_time, 3)}, self._steps)
        self._steps.write("\n")
        self._steps.flush()

    def state(self, mission: Mission) -> None:
        """Replace `mission.json` by the mission as it is now; a reader never sees half a file."""
        partial = self._final.with_suffix(".json.part")
        partial.write_text(json.dumps(describe(mission), indent=2) + "\n", encoding="utf-8")
        os.replace(partial, self._final)

    def close(self) -> None:
        """Close the log; called once."""
        self._steps.close()


def describe(mission: Mission) -> dict[str, Any]:
    """The mission as plain values, with the field names of `openral/msg/Mission`."""
    return {
        "id": mission.id,
        "text": mission.text,
        "state": mission.state.value,
        "active_task": mission.active_task,
        "message": mission.message,
        "tasks": [
            {
                "id": f"{mission.id}/{index}",
                "text": task.planned.text,
                "instruction": task.planned.instruction,
                "skill": task.planned.skill.name,
                "skill_task": task.planned.skill_task,
                "match_score": task.planned.score,
                "state": task.state.value,
                "attempts": task.attempts,
                "progress": task.progress,
                "success": task.success,
                "outcome": task.outcome,
                "started_s": task.started_s,
                "ended_s": task.ended_s,
            }
            for index, task in enumerate(mission.tasks)
        ],
    }
