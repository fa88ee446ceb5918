"""Writes the RViz layouts that ship in config/rviz; with --check, only compares.

python tools/rviz_layouts.py --check
"""

from __future__ import annotations

import sys
from pathlib import Path

from openral_cli.deploy.rviz_layout import SHIPPED, rviz_layout
from openral_core.scene import load_scene

FOLDER = Path(__file__).parents[1] / "config" / "rviz"


def main(words: list[str]) -> int:
    """Write or compare; 1 where a file differs from what its scene gives."""
    changed = 0
    for name, scene in SHIPPED.items():
        path, text = FOLDER / f"{name}.rviz", rviz_layout(load_scene(scene))
        if "--check" not in words:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            sys.stderr.write(f"{path} is not what {scene} gives; run tools/rviz_layouts.py\n")
            changed = 1
    return changed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
