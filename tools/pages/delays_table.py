"""Write the table of late answers and late pictures of docs/mini.md from results of `openral benchmark run`.

python tools/pages/delays_table.py --take runs/late/result.json    # keep a result, every episode
python tools/pages/delays_table.py                                 # rewrite the page
python tools/pages/delays_table.py --check                         # exit 1 if the page is out of date
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from page_parts import ROOT, keep, with_part

from openral_core.statistics import wilson_interval

PAGE, RESULTS = ROOT / "docs" / "mini.md", ROOT / "docs" / "results" / "delays"
KEPT = ("task", "init_id", "success", "steps")
"""Of each episode."""


class Delay(NamedTuple):
    """By how many frames pictures are older than the proprioception, and an answer comes late."""

    picture: int
    answer: int

    def __str__(self) -> str:
        late = (("pictures", self.picture), ("answers", self.answer))
        told = [f"{which} {frames} frame{'s' * (frames != 1)} late" for which, frames in late if frames]
        return ", ".join(told) or "none"


def take(path: Path) -> None:
    """Keep of a result what the table needs."""
    result = json.loads(path.read_text(encoding="utf-8"))
    origin, config = result["provenance"], result["eval_config"]
    delay = Delay(config.get("picture_delay", 0), config.get("answer_delay", 0))
    kept = {
        "skill": origin["skill"].rpartition("rskill-")[2],
        "version": origin["skill_version"],
        "commit": origin["commit"],
        "command": origin["command"],
        **delay._asdict(),
        "episodes": [{name: row[name] for name in KEPT} for row in result["results"]["episodes"]],
    }
    RESULTS.mkdir(exist_ok=True)
    name = f"{kept['skill']}-{kept['version']}-picture{delay.picture}-answer{delay.answer}.json"
    (RESULTS / name).write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")


def table() -> list[str]:
    """Return a row a delay of each version of a skill, with the tasks that lose most."""
    runs: list[dict[str, Any]] = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))
    ]
    rows = ["| skill | delay | solved | fewest |", "|---|---|---|---|"]
    for run in sorted(runs, key=lambda run: (run["skill"], run["version"], run["answer"], run["picture"])):
        won, count = sum(row["success"] for row in run["episodes"]), len(run["episodes"])
        low, high = wilson_interval(won, count)
        delay = Delay(run["picture"], run["answer"])
        solved = f"{won}/{count} ({low:.2f}–{high:.2f})"
        rows.append(f"| `{run['skill']}` {run['version']} | {delay} | {solved} | {fewest(run['episodes'])} |")
    return rows


def fewest(episodes: list[dict[str, Any]]) -> str:
    """Return the two tasks of which fewest episodes were solved, and how many; a dash: all were."""
    tasks: dict[str, list[bool]] = defaultdict(list)
    for row in episodes:
        tasks[row["task"].rpartition("/")[2]].append(row["success"])
    short = [task for task, solved in tasks.items() if not all(solved)]
    least = sorted(short, key=lambda task: (sum(tasks[task]) / len(tasks[task]), task))[:2]
    return ", ".join(f"{task} {sum(tasks[task])}/{len(tasks[task])}" for task in least) or "–"


def main() -> int:
    """Take a result, rewrite or check the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", type=Path, nargs="+", default=[])
    for path in parser.parse_args().take:
        take(path)
    return keep({PAGE: lambda text: with_part(text, "delays", table())})


if __name__ == "__main__":
    sys.exit(main())
