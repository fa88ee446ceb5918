"""Write the table of stop conditions of docs/deploy.md from their models.

python tools/pages/stop_conditions_table.py            # rewrite the page
python tools/pages/stop_conditions_table.py --check    # exit 1 if it is out of date
"""

from __future__ import annotations

import sys
from typing import Any

from page_parts import ROOT, keep, with_part

from openral_core.robot import load_robot
from openral_core.stop_conditions.fingers import CLOSES, MARGIN_M, REST_M, REST_S
from openral_core.stop_conditions.models import MODELS

PAGE = ROOT / "docs" / "deploy.md"


def table() -> list[str]:
    """Return a row a condition: its name, when it holds, its numbers with their defaults; then what fingers do."""
    rows = ["| name | holds when | numbers |", "|---|---|---|"]
    for name, model in MODELS.items():
        schema = model.model_json_schema()
        properties = {key: value for key, value in schema["properties"].items() if key != "name"}
        numbers = "<br>".join(number(key, value) for key, value in properties.items())
        rows.append(f"| `{name}` | {' '.join(schema['description'].split())} | {numbers} |")
    return [*rows, "", *fingers()]


def fingers() -> list[str]:
    """Return what counts as fingers on something, in the numbers of the code."""
    least = load_robot("sawyer").end_effectors[0].min_opening_m
    return [
        f"Fingers are told to close by a gripper number of {CLOSES:g} or more. They are at rest when they moved",
        f"no more than {1e3 * REST_M:g} mm in {REST_S:g} s, and on something when they are then more than",
        f"{1e3 * MARGIN_M:g} mm from either end of their travel. The closed end is `min_opening_m` of the",
        f"robot's description: MetaWorld's fingers stop {1e3 * least:g} mm apart on nothing, and hold the peg of",
        "peg-insert-side at the same opening, so that `lifted` never holds there.",
    ]


def number(key: str, schema: dict[str, Any]) -> str:
    """Return `height_m`, its default, and what it is."""
    given = f" = {schema['default']:g}" if schema.get("default") is not None else ""
    needed = "" if "default" in schema else ", needed"
    return f"`{key}{given}`{needed}: {schema['description'].rstrip('.')}"


def main() -> int:
    """Rewrite the page, or with --check say whether it is out of date."""
    return keep({PAGE: lambda text: with_part(text, "stop conditions", table())})


if __name__ == "__main__":
    sys.exit(main())
