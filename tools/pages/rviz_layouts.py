"""Writes the RViz layouts that ship in config/rviz; with --check, only compares.

python tools/pages/rviz_layouts.py --check
"""

from __future__ import annotations

import sys

from page_parts import ROOT, keep

from openral_cli.deploy.rviz_layout import SHIPPED, rviz_layout
from openral_core.scene import load_scene

FOLDER = ROOT / "config" / "rviz"


def main() -> int:
    """Write or compare; 1 where a file differs from what its scene gives."""
    return keep(
        {
            FOLDER / f"{name}.rviz": lambda _, scene=scene: rviz_layout(load_scene(scene))
            for name, scene in SHIPPED.items()
        }
    )


if __name__ == "__main__":
    sys.exit(main())
