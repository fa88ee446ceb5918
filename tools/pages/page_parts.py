"""Parts of pages that tools write: what stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Of the repository."""


def with_part(text: str, name: str, lines: list[str]) -> str:
    """Return the text with what stands between the markers of a name replaced."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    return head + begin + "\n".join(lines) + "\n" + end + tail


def keep(files: Mapping[Path, Callable[[str], str]]) -> int:
    """Rewrite files, or with `--check` among the words of the command only name those that are out of date.

    Args:
        files: to each, a function of its present text, empty where there is none, that returns what it has to be.

    Returns:
        Exit status of the tool: 1 where `--check` found a file that is out of date.
    """
    stale = []
    for path, rewritten in files.items():
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        new = rewritten(text)
        if new == text:
            continue
        stale.append(path)
        if "--check" in sys.argv:
            sys.stderr.write(f"{path.relative_to(ROOT)} is out of date: run python {sys.argv[0]}\n")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(new, encoding="utf-8")
    return int("--check" in sys.argv and bool(stale))
