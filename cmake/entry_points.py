"""Write the entry points of pyproject.toml as the setup.cfg that ament_python_install_package reads.

    python3 cmake/entry_points.py pyproject.toml build/setup.cfg

The message package that is generated is named `openral` as the distribution is, and hides it: without this, the
command `openral` of a workspace that is sourced would have no verbs.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GROUP = "openral.cli"


def main() -> int:
    """Read the file of the first argument, and write that of the second."""
    project = tomllib.loads(Path(sys.argv[1]).read_text())["project"]
    verbs = "".join(f"  {name} = {value}\n" for name, value in project["entry-points"][GROUP].items())
    Path(sys.argv[2]).write_text(f"[options.entry_points]\n{GROUP} =\n{verbs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
