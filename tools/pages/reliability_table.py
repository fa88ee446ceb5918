"""Write the table of docs/reliability.md from what the tests of faults found last: no figure is typed by hand.

python tools/pages/reliability_table.py            # rewrite the page
python tools/pages/reliability_table.py --check    # exit 1 if it is out of date
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from page_parts import ROOT, keep, with_part

PAGE = ROOT / "docs" / "reliability.md"
TESTS = ROOT / "tests" / "faults"
RESULTS = TESTS / "results.json"
FAULTS = {
    1: "a chunk with NaN, inf, a wrong length or type",
    2: "positions, speeds and steps out of limits",
    3: "a stale camera",
    4: "a frozen camera",
    5: "a camera of another size or encoding",
    6: "dropped frames",
    7: "sidecar killed",
    8: "sidecar hangs",
    9: "sidecar is slow",
    10: "sidecar sends garbage",
    11: "port taken by a process of an earlier run",
    12: "parent killed",
    13: "clock jumps, simulation time stands still",
    14: "transforms missing, stale, in a loop",
    15: "joints in another order, or of another name",
    16: "malformed manifests",
    17: "weights that are a pickle, altered or incomplete",
    18: "ways round the licence gate",
    19: "prompt injection",
    20: "language model down, slow, malformed, endless",
    21: "reward monitor dead, NaN, always sure, noisy",
    22: "emergency stop at any phase",
    23: "the sender of chunks is gone",
    24: "life cycle in every order",
    25: "bring-up and shutdown in a loop",
    26: "missions for long",
    27: "disk full, recorder killed",
    28: "bound off loopback without a token",
    29: "accelerator without memory",
    30: "EGL missing",
    31: "any process killed at any instant",
    32: "a real arm's client in mid-motion",
}
"""Row -> what goes wrong."""
HALVES = {"quick": "`make faults`", "long": "`make faults-long`"}


def known_tests() -> set[str]:
    """Return `file::function` of every test of faults."""
    return {
        f"{path.name}::{name}"
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def lines_of(results: dict[str, Any]) -> list[str]:
    """Return the table, a line a figure, and on what the figures were made."""
    known = known_tests()
    found = [
        (row, half)
        for half in HALVES
        for row in results.get(half, {}).get("rows", [])
        if row["test"].partition("[")[0] in known
    ]
    found.sort(key=lambda pair: (pair[0]["row"], list(HALVES).index(pair[1]), pair[0]["test"]))
    lines = [
        "| fault | injected | times | what happened | worst | wanted | lost | test | run |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    named = 0
    for row, half in found:
        name = f"{row['row']}. {FAULTS[row['row']]}" if row["row"] != named else ""
        named = row["row"]
        worst = "" if row["worst"] is None else f"{row['worst']:.3g} {row['unit']}"
        mark = "" if half == "quick" else " (long)"
        run = row["date"] + ("" if row["load"] is None else f", load {row['load']}")
        cells = [name, row["injected"], f"{row['times']:,}", row["happened"], worst, row["bar"], row["lost"]]
        cells += [f"`{row['test']}`{mark}", run]
        lines.append("".join(f"| {str(cell).replace('|', '/')} " for cell in cells) + "|")
    seen = {row["row"] for row, _ in found}
    absent = [f"{number} ({text})" for number, text in FAULTS.items() if number not in seen]
    if absent:
        lines += ["", f"Without a figure from the last runs: {'; '.join(absent)}."]
    return [*lines, "", *made_with(results)]


def made_with(results: dict[str, Any]) -> list[str]:
    """Return a line for each half: on what its rows were made."""
    lines = []
    for half, command in HALVES.items():
        if machine := results.get(half, {}).get("machine"):
            processors = sorted({row["processor"] for row in results[half]["rows"]})
            lines.append(
                f"{command}: {' and '.join(processors)}, {machine['cores']} cores, Python {machine['python']}."
            )
    return lines


def main() -> int:
    """Rewrite or check."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return keep({PAGE: lambda text: with_part(text, "faults", lines_of(results))})


if __name__ == "__main__":
    sys.exit(main())
