"""Write the table of docs/learning-from-corrections.md from the runs in docs/results/dagger.

python tools/pages/dagger_table.py --take runs/dagger/drawer_open-1    # keep a run, every judged episode
python tools/pages/dagger_table.py                                     # rewrite the page
python tools/pages/dagger_table.py --check                             # exit 1 if the page is out of date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from page_parts import ROOT, keep, with_part

PAGE = ROOT / "docs" / "learning-from-corrections.md"
RUNS = ROOT / "docs" / "results" / "dagger"
KEPT = ("init_id", "success", "steps")
"""Of each judged episode."""
HELP = {"corrections": "corrections", "demonstrations": "plain demonstrations"}


def take(folder: Path) -> Path:
    """Keep what a run's page needs, with the rows of its skills' evaluations; return the file.

    Wherever the run's folder lay, its commands name it as the page does.
    """
    text = (folder / "result.json").read_text(encoding="utf-8")
    result = json.loads(text.replace(str(folder.resolve().parent), "runs/dagger"))
    for told in result["rounds"]:
        (judged,) = (folder / f"round-{told['round']}" / "eval").glob("*.json")
        episodes = json.loads(judged.read_text(encoding="utf-8"))["results"]["episodes"]
        told["judged"] = [{name: row[name] for name in KEPT} for row in episodes]
        solved = sum(row["success"] for row in episodes)
        assert (solved, len(episodes)) == (
            told["all_episodes"]["successes"],
            told["all_episodes"]["n_episodes"],
        )
    path = RUNS / f"{folder.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def table() -> list[str]:
    """Return a row a run: what it was given, and what each round solved of the states that were held out."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RUNS.glob("*.json"))]
    runs.sort(
        key=lambda run: (
            run["config"]["task"],
            run["config"]["demonstrations"],
            run["config"]["cloning"]["round_steps"],
            run["seed"],
            run["help"],
        )
    )
    rounds = max((len(run["rounds"]) for run in runs), default=1)
    each = (f"round {number}" for number in range(1, rounds))
    heads = ["task", "steps a round", "seed", "given", "first policy", *each]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for run in runs:
        task = run["config"]["task"].removeprefix("metaworld/")
        cells = [cell(told) for told in run["rounds"]]
        cells += [left_out(run)] * (rounds - len(cells))
        steps = run["config"]["cloning"]["round_steps"]
        rows.append(f"| {' | '.join([task, str(steps), str(run['seed']), HELP[run['help']], *cells])} |")
    return rows


def left_out(run: dict[str, Any]) -> str:
    """Return what stands in place of rounds that were not run: a dash after one that had solved enough."""
    solved: float = run["rounds"][-1]["all_episodes"]["success_rate"]
    return "–" if solved >= run["config"].get("enough", 1.0) else "not run"


def cell(told: dict[str, Any]) -> str:
    """Return what one round solved, with its interval, and by how much help."""
    found = told["all_episodes"]
    low, high = found["wilson_95"]
    return f"{found['successes']}/{found['n_episodes']} ({low:.2f}–{high:.2f})<br>+{told['interventions']}"


def main() -> int:
    """Take runs, rewrite the page, or with --check say whether it is out of date."""
    if "--take" in sys.argv:
        for word in sys.argv[sys.argv.index("--take") + 1 :]:
            take(Path(word))
    return keep({PAGE: lambda text: with_part(text, "runs", table())})


if __name__ == "__main__":
    sys.exit(main())
