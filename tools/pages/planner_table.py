"""Write the tables of docs/planner.md from what the offline planner made of its suites: no figure is typed by hand.

python tools/pages/planner_table.py --measure    # plan every sentence (about five minutes), then rewrite the page
python tools/pages/planner_table.py              # rewrite the page from docs/results/planner_eval.json
python tools/pages/planner_table.py --check      # exit 1 if the page is out of date
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from page_parts import ROOT, keep, with_part

from openral_core.statistics import wilson_interval
from openral_reasoner.evaluation.score import evaluate, is_done_wrongly
from openral_reasoner.evaluation.suite import FREE, WORLDS, load_suite
from openral_reasoner.offline import OfflinePlanner
from openral_reasoner.offline.clause_matcher import WEIGHTS
from openral_reasoner.offline.segment_chooser import ASK, DO, RIVAL
from openral_reasoner.palette import Palette
from openral_reasoner.planner import Plan

PAGE = ROOT / "docs" / "planner.md"
RESULTS = ROOT / "docs" / "results" / "planner_eval.json"
SPOKEN = ROOT / "tests" / "reasoner" / "offline" / "phrases_free.yaml"
NEAR = ROOT / "tests" / "reasoner" / "offline" / "near_misses.yaml"
FIRST_RUN = ("world_hair_salon.yaml", "world_observatory.yaml", "world_print_shop.yaml")
"""Worlds whose nouns the training left out, and that nothing was chosen by."""
COLUMNS = {
    "paraphrases, single": ("paraphrase",),
    "several steps": ("several_steps", "multi_step"),
    "cannot do": ("impossible",),
    "forbidden": ("forbidden", "negation"),
}
"""Column -> kinds of the suites."""
Counts = dict[str, list[int]]
"""Column -> [right, sentences]; "wrong" -> [done wrongly, sentences]."""


def measured_planner() -> dict[str, Any]:
    """What the figures belong to: the weights and the thresholds."""
    weights = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()
    return {"weights": weights, "do": DO, "ask": ASK, "rival": RIVAL}


def planned(planner: OfflinePlanner, sentence: str, palette: Palette) -> tuple[str, ...]:
    """Tasks that a sentence starts without a question."""
    plan = planner.plan(sentence, palette)
    return tuple(task.skill_task for task in plan.tasks) if isinstance(plan, Plan) else ()


def measured(planner: OfflinePlanner, path: Path) -> Counts:
    """Plan every sentence of a suite."""
    suite = load_suite(path)
    counts: Counts = {column: [0, 0] for column in (*COLUMNS, "wrong")}
    for mission in suite.missions:
        done = planned(planner, mission.say, suite.palette)
        counts["wrong"][0] += is_done_wrongly(done, mission.do)
        counts["wrong"][1] += 1
        for column, kinds in COLUMNS.items():
            if mission.kind in kinds:
                counts[column][0] += done == mission.do
                counts[column][1] += 1
    return counts


def measure() -> dict[str, Any]:
    """Plan the sentences of all sets, and run the missions in the simulated deployment."""
    planner = OfflinePlanner()
    rows = evaluate(load_suite())
    palette = load_suite(FREE[0]).palette
    spoken = yaml.safe_load(SPOKEN.read_text(encoding="utf-8"))
    free = [
        (task, planned(planner, said, palette)) for task, sentences in spoken.items() for said in sentences
    ]
    near = yaml.safe_load(NEAR.read_text(encoding="utf-8"))
    return {
        "planner": measured_planner(),
        "suites": {path.name: measured(planner, path) for path in (*WORLDS, *FREE)},
        "missions": {
            "right": [sum(row.correct for row in rows), len(rows)],
            "done_wrongly": [row.say for row in rows if row.wrong],
        },
        "near_misses": {"moved": [sum(bool(planned(planner, said, palette)) for said in near), len(near)]},
        "free_phrases": {
            "right": [sum(done == (task,) for task, done in free), len(free)],
            "wrong": [sum(is_done_wrongly(done, (task,)) for task, done in free), len(free)],
        },
    }


def share(right: int, n: int) -> str:
    """Return `20/40 (0.35–0.65)`, with the Wilson interval; a dash where there is nothing."""
    if n == 0:
        return "–"
    low, high = wilson_interval(right, n)
    return f"{right}/{n} ({low:.2f}–{high:.2f})"


def table(suites: dict[str, Counts], names: Iterable[str]) -> list[str]:
    """Return a row a suite, and one for all of them."""
    chosen = {name: suites[name] for name in names}
    total = {
        column: [sum(counts[column][i] for counts in chosen.values()) for i in (0, 1)]
        for column in (*COLUMNS, "wrong")
    }
    lines = [f"| | {' | '.join(COLUMNS)} | done wrongly |", "|" + "---|" * (len(COLUMNS) + 2)]
    for name, counts in [*((f"`{name}`", counts) for name, counts in chosen.items()), ("all of them", total)]:
        cells = [share(*counts[column]) for column in COLUMNS]
        lines.append(f"| {name} | {' | '.join(cells)} | {'/'.join(map(str, counts['wrong']))} |")
    return lines


def thresholds(results: dict[str, Any]) -> list[str]:
    """Return what is done with an order, by the probability of its best task."""
    limits = results["planner"]
    return [
        "| probability of the best task | answer |",
        "|---|---|",
        f"| at least {limits['do']}, and {limits['rival']} nats of log odds above every other task | **do** it |",
        f'| at least {limits["ask"]}, or several tasks about as likely | **ask** "Did you mean …?" |',
        "| less | **refuse** the whole sentence, with the part that no skill does |",
    ]


def missions(results: dict[str, Any]) -> list[str]:
    """Return the figures of the other sets, one a line."""
    ran = results["missions"]
    moved, free = results["near_misses"]["moved"], results["free_phrases"]
    return [
        "| | |",
        "|---|---|",
        f"| missions of `missions.yaml`, done in the simulated deployment (`openral reasoner eval`) "
        f"| {share(*ran['right'])} right |",
        f"| of them with a task that was not ordered | {'; '.join(ran['done_wrongly']) or 'none'} |",
        f"| near misses (`tests/reasoner/offline/near_misses.yaml`) that moved something | {share(*moved)} |",
        f"| sentences of `tests/reasoner/offline/phrases_free.yaml` | {share(*free['right'])} done, "
        f"{share(*free['wrong'])} done wrongly |",
    ]


def page(text: str, results: dict[str, Any]) -> str:
    """Return docs/planner.md with its tables made anew."""
    suites = results["suites"]
    seen = [path.name for path in WORLDS if path.name not in FIRST_RUN]
    parts: dict[str, Sequence[str]] = {
        "thresholds": thresholds(results),
        "first run": table(suites, FIRST_RUN),
        "development": table(suites, seen),
        "free speech": table(suites, [path.name for path in FREE]),
        "missions": missions(results),
    }
    for name, lines in parts.items():
        text = with_part(text, name, list(lines))
    return text


def main() -> int:
    """Measure, rewrite or check; 1 also where the measurement is of another planner."""
    if "--measure" in sys.argv:
        RESULTS.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    stale = keep({PAGE: lambda text: page(text, results)})
    if "--check" in sys.argv and results["planner"] != measured_planner():
        sys.stderr.write(f"{RESULTS.name} is of another planner: run python {sys.argv[0]} --measure\n")
        return 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
