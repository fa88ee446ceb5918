"""Write the tables of docs/benchmark-missions.md, and what README.md tells of them, from the results beside the page.

python tools/pages/missions_table.py                             # rewrite the page
python tools/pages/missions_table.py --check                     # exit 1 if it is out of date
python tools/pages/missions_table.py --take runs/x/result.json --part missions_mt10
                                                           # take another result first, without machine and folders
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from page_parts import ROOT, keep, with_part

from openral_benchmark.harness.result import ALL
from openral_benchmark.harness.tables import comparison_table, markdown, mission_table, remarks
from openral_rskill.result_provenance import write_result

PAGE = ROOT / "docs" / "benchmark-missions.md"
README = ROOT / "README.md"
PARTS = (
    "missions",
    "missions_parts",
    "missions_mt10",
    "missions_robosuite_own",
    "missions_robosuite",
)
"""Names of the results in docs/, and of their parts of the page: two tasks, these without one part each, ten tasks,
robosuite by judge and detector, and with what the simulator says."""
TOLD = {
    "missions": "pick-place and push, in seven variants",
    "missions_mt10": "the ten tasks of MT10, in four variants",
    "missions_robosuite_own": "three tasks of robosuite, in six variants",
}
"""Results that README.md tells, and what they are of; ROWS are the rows that it tells."""
ROWS = ("bare", "script", "harness")
FEW = 30
"""Episodes of a cell below which the page says so."""


def text(content: dict[str, Any]) -> str:
    """Return the part of the page that comes from a result."""
    config, source = content["eval_config"], content["provenance"]
    first, last = config["init_ids"]
    names = [task.rsplit("/", 1)[-1] for task in config["tasks"]]
    tasks = ", ".join([*names[:-2], " and ".join(names[-2:])])
    said = (
        f"{config['vla_id']} {source['skill_version']} on states {first} to {last} of {tasks}, at most "
        f"{config['max_steps']} steps; solved of episodes, commit {str(source['commit'])[:12]}."
    )
    rows = content["results"]["rows"]
    each = {
        cell["n_episodes"] for row in rows.values() for name, cell in row["variants"].items() if name != "all"
    }
    few = f"From {min(each)} to {max(each)} episodes a cell: a cell says next to nothing, the column of all little."
    notes = "".join(f"{note}\n\n" for note in (*remarks(content), *([few] if min(each) < FEW else [])))
    paired = markdown(*comparison_table(content))
    told = "Compared episode by episode (exact McNemar test):"
    return f"{said}\n\n{markdown(*mission_table(content))}\n\n{notes}{told}\n\n{paired}"


def summary() -> list[str]:
    """Return a row a result for README.md: solved of all episodes, and what the harness called done wrongly."""
    lines = []
    for part, words in TOLD.items():
        content = json.loads(_result(part).read_text(encoding="utf-8"))
        rows, names = content["results"]["rows"], content["eval_config"]["rows"]
        solved = [rows[name]["variants"][ALL] for name in ROWS]
        cells = [f"{cell['successes']}/{cell['n_episodes']}" for cell in solved]
        wrong = f"{rows['harness']['claimed_and_never_done']} of {rows['harness']['claimed']}"
        lines.append([words, *cells, wrong])
    heads = ["whole missions, solved", *(names[name] for name in ROWS), "harness: called done and never was"]
    return markdown(heads, lines).splitlines()


def _result(part: str) -> Path:
    return ROOT / "docs" / "results" / f"{part}.json"


def main() -> int:
    """Take a result, rewrite or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", type=Path)
    parser.add_argument("--part", choices=PARTS, default=PARTS[0])
    options = parser.parse_args()
    if options.take is not None:
        taken = json.loads(options.take.read_text(encoding="utf-8"))
        taken["provenance"].pop("host", None)
        command = taken["provenance"]["command"]
        taken["provenance"]["command"] = re.sub(r"(--out )\S+", rf"\1runs/{options.part}", command)
        write_result(_result(options.part), taken)
    return keep({PAGE: page, README: lambda said: with_part(said, "missions", summary())})


def page(said: str) -> str:
    """Return docs/benchmark-missions.md with the tables of every part made anew."""
    for part in PARTS:
        told = text(json.loads(_result(part).read_text(encoding="utf-8")))
        said = with_part(said, part, told.splitlines())
    return said


if __name__ == "__main__":
    sys.exit(main())
