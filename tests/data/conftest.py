"""The dataset of somebody else, which the tests of training have, too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "training" / "mapping"))
