"""Draw docs/architecture.svg: the packages in their layers, and which imports which.

    python tools/pages/architecture_picture.py [--check]

Layers are those of the import contract in pyproject.toml, what a package is for is the first line of its docstring,
and the last line of a box names what it imports; what these import in turn is left out. With `--check` nothing is
written; the exit status is 1 if the picture differs.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from html import escape
from itertools import pairwise

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from page_parts import ROOT, keep

PICTURE = ROOT / "docs" / "architecture.svg"
WIDTH, HEIGHT, GAP, ROW = 252, 124, 16, 156
"""[px] of a box, between boxes, and from one layer to the next."""
LETTERS = 38
"""Characters of a line in a box."""
STYLE = (
    "text { font: 12px sans-serif; fill: #333; } .name { font: bold 14px monospace; fill: #123; } "
    ".below { fill: #1b6ca8; font-size: 11px; } rect { fill: #f4f8fb; stroke: #1b6ca8; stroke-width: 1.2; } "
    "path { stroke: #8aa; fill: none; }"
)


def layers() -> list[list[str]]:
    """Return the packages of each layer, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip() for name in row.split("|")] for row in rows]


def purpose(package: str) -> str:
    """Return the first line of a package's docstring."""
    tree = ast.parse((ROOT / "src" / package / "__init__.py").read_text())
    return (ast.get_docstring(tree) or "").splitlines()[0]


def imported(package: str, others: set[str]) -> set[str]:
    """Return which of the other packages a package imports anywhere."""
    found: set[str] = set()
    for path in (ROOT / "src" / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {name.split(".")[0] for name in names}
    return found & (others - {package})


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the edges that do not follow from others (transitive reduction of an acyclic graph)."""

    def reach(node: str) -> set[str]:
        return edges[node].union(*(reach(other) for other in edges[node]))

    return {
        node: {to for to in targets if not any(to in reach(other) for other in targets - {to})}
        for node, targets in edges.items()
    }


def picture() -> str:
    """Return the SVG."""
    rows = layers()
    names = {name for row in rows for name in row}
    width = max(len(row) for row in rows) * (WIDTH + GAP) + GAP
    places = {}
    for y, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
        for x, name in enumerate(row):
            places[name] = (left + x * (WIDTH + GAP), GAP + y * ROW)
    edges = reduced({name: imported(name, names) for name in names})
    height = len(rows) * ROW - ROW + HEIGHT + 2 * GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>The packages of openral and their imports</title><style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" style="fill: white; stroke: none"/>',
    ]
    for upper, lower in pairwise(range(len(rows))):
        y = GAP + upper * ROW + HEIGHT
        lines.append(f'<path d="M{width / 2:.0f} {y} v{(lower - upper) * ROW - HEIGHT}"/>')
    for name in sorted(places):
        lines += _box(name, sorted(edges[name]), *places[name])
    return "\n".join([*lines, "</svg>", ""])


def _box(name: str, imports: list[str], x: float, y: float) -> list[str]:
    words = textwrap.wrap(purpose(name), LETTERS, max_lines=3, placeholder=" …")
    below = ", ".join(each.removeprefix("openral_") for each in imports)
    texts = [
        *((42 + 16 * i, "purpose", line) for i, line in enumerate(words)),
        *((HEIGHT - 12 - 14 * i, "below", line) for i, line in enumerate(_upwards(below))),
    ]
    return [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        f'<text class="name" x="{x + 10:.0f}" y="{y + 22:.0f}">{name}</text>',
        *(
            f'<text class="{kind}" x="{x + 10:.0f}" y="{y + place:.0f}">{escape(line)}</text>'
            for place, kind, line in texts
        ),
    ]


def _upwards(below: str) -> list[str]:
    """Return the line about imports, cut to the width of a box, the last one first."""
    return textwrap.wrap(f"→ {below}", LETTERS + 4)[::-1] if below else []


def main() -> int:
    """Write the picture, or compare it."""
    return keep({PICTURE: lambda _: picture()})


if __name__ == "__main__":
    sys.exit(main())
