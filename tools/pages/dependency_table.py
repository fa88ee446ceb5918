"""Write the tables of docs/dependencies.md: what openral depends on, within which bounds, under which licence.

    python tools/pages/dependency_table.py [--check]

Names and bounds come from the two pyproject.toml, licences from the metadata of what is installed. What is not
installed here keeps the licence that the page has. The last column, what a dependency is for, is written by hand and
kept. With `--check` nothing is written; the exit status is 1 if the page differs.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from page_parts import ROOT, keep, with_part

PAGE = ROOT / "docs" / "dependencies.md"
PROJECTS = {"openral": ROOT, "ros2-embedded": ROOT / "ros2_embedded"}
SPELLINGS = {
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",
    "Eclipse Public License 2.0 (EPL-2.0)": "EPL-2.0",
    "MIT License": "MIT",
}
"""What metadata and trove classifiers say, as SPDX writes it."""
UNKNOWN = "?"
LONGEST = 40
"""[characters] A longer licence field is the licence itself."""


def normal(name: str) -> str:
    """Return the name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(name: str) -> str | None:
    """Return the licence that an installed distribution states, as SPDX writes it; None if it is not installed."""
    try:
        stated = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if expression := stated.get("License-Expression"):
        return str(expression)
    text = str(stated.get("License") or "").strip()
    classified = [
        c.rpartition(" :: ")[2] for c in stated.get_all("Classifier", []) if c.startswith("License ::")
    ]
    said = [text] if 0 < len(text) < LONGEST else classified or [UNKNOWN]
    return " OR ".join(dict.fromkeys(SPELLINGS.get(words, words) for words in said))


def requirements(folder: Path) -> dict[str, dict[str, str]]:
    """Return, for each use (an extra, or empty: always), the bounds of each distribution by its name."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    uses = {"": project["dependencies"], **project.get("optional-dependencies", {})}
    found: dict[str, dict[str, str]] = {}
    for use, lines in uses.items():
        for line in lines:
            match = re.fullmatch(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;.*)?", line)
            assert match is not None, line
            found.setdefault(use, {})[match[1]] = match[2]
    return found


def kept(page: str) -> dict[str, tuple[str, str]]:
    """Return licence and purpose of each distribution that a page has."""
    rows = re.findall(r"^\| `([^`]+)` \|[^|]*\|[^|]*\| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE)
    return {name: (stated, purpose) for name, stated, purpose in rows}


def table(project: str, page: str) -> list[str]:
    """Return the table of one distribution, in Markdown."""
    before, uses_of, bounds_of = kept(page), dict[str, list[str]](), dict[str, str]()
    for use, bounds in requirements(PROJECTS[project]).items():
        for name, bound in bounds.items():
            uses_of.setdefault(name, []).append(f"`{use}`" if use else "always")
            bounds_of[name] = bound
    lines = ["| distribution | versions | in | licence | for |", "|---|---|---|---|---|"]
    for name in sorted(bounds_of, key=normal):
        stated, purpose = before.get(name, (UNKNOWN, UNKNOWN))
        row = (f"`{name}`", bounds_of[name], ", ".join(uses_of[name]), licence(name) or stated, purpose)
        lines.append(f"| {' | '.join(row)} |")
    return lines


def renewed(page: str) -> str:
    """Return the page with its tables made anew."""
    for project in PROJECTS:
        page = with_part(page, project, table(project, page))
    return page


def main() -> int:
    """Write the page, or compare it; 1 if it differs or a row lacks its licence or purpose."""
    stale = keep({PAGE: renewed})
    if lacking := [name for name, columns in kept(PAGE.read_text()).items() if UNKNOWN in columns]:
        sys.stderr.write(f"docs/dependencies.md: write by hand what '?' stands for: {', '.join(lacking)}\n")
    return int(stale or bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
