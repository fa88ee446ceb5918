"""Finding a description by path or by name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from openral_core.errors import NotFoundError, nearest
from openral_core.files.share import share_directory

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def find_file(ref: str | Path, kind: str, patterns: Sequence[str]) -> Path:
    """Return the file that `ref` means, the first one where a name stands for several. Else as `find_files`."""
    return find_files(ref, kind, patterns)[0]


def find_files(ref: str | Path, kind: str, patterns: Sequence[str]) -> list[Path]:
    """Return the files that `ref` may mean: one of a path or a path below openral's data, or those of a bare name.

    Args:
        ref: what the user wrote.
        kind: word for the message, such as "scene".
        patterns: where bare names live below openral's data, such as "scenes/deploy/{}.yaml".

    Raises:
        NotFoundError: nothing of that name; the text lists what there is.
    """
    share = share_directory()
    for path in (Path(ref), share / ref):
        if os.path.isfile(path):
            return [path]
    if NAME.fullmatch(str(ref)):
        named = [share / pattern.format(ref) for pattern in patterns]
        if found := [path for path in named if os.path.isfile(path)]:
            return found
    known = names_of(patterns)
    names, close = ", ".join(known) or "none", nearest(str(ref), known)
    meant = f"did you mean '{close}'? Give" if close else "give"
    raise NotFoundError(f"{kind} '{ref}' was not found; {meant} a path or one of: {names}")


def name_of(path: Path, patterns: Sequence[str]) -> str:
    """Return the bare name by which `find_file` finds a file; empty: it has none."""
    share = share_directory()
    for pattern in patterns:  # the first of a name is the one that is found
        if (found := share / pattern.format(path.stem)).is_file():
            return path.stem if found.samefile(path) else ""
    return ""


def names_of(patterns: Sequence[str]) -> list[str]:
    """Return the bare names that exist below openral's data, sorted."""
    share = share_directory()
    found: set[str] = set()
    for pattern in patterns:
        wildcard = re.compile(re.escape(pattern).replace(re.escape("{}"), r"([^/]+)"))
        for path in share.glob(pattern.format("*")):
            match = wildcard.fullmatch(path.relative_to(share).as_posix())
            if match:
                found.add(match.group(1))
    return sorted(found)
