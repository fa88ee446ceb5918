"""The helpers beside this file serve the tests of every folder below."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
