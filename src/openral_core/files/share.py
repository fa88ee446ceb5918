"""Where openral's own data lies: interfaces, launch files, rskills, robots, scenes.

Three layouts hold the same tree: a source checkout (the repository root), a pip install
(`<prefix>/share/openral`) and a colcon workspace (`install/openral/share/openral`).
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from openral_core.errors import InstallationError


def _candidates() -> list[Path]:
    here = Path(__file__).resolve()
    checkout = here.parents[3]
    installed = [parent / "share" / "openral" for parent in here.parents]
    return [checkout, Path(sys.prefix) / "share" / "openral", *installed]


@cache
def share_directory() -> Path:
    """Return the directory that holds `package.xml`, `msg/`, `launch/`, `rskills/`, `robots/` and `scenes/`.

    Raises:
        InstallationError: none of the three layouts is present.
    """
    for path in _candidates():
        if (path / "package.xml").is_file() and (path / "msg").is_dir():
            return path
    raise InstallationError("openral's data files were not found; reinstall with `pip install openral`")
