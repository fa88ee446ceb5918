"""A ROS domain and a state folder of its own for each test run, so that nothing else on the machine is seen."""

from __future__ import annotations

import contextlib
import os
import tempfile

from domain_coordinator import domain_id

# Set before any session opens; child processes inherit it. Held until this process ends.
_held = contextlib.ExitStack()
os.environ["ROS_DOMAIN_ID"] = str(_held.enter_context(domain_id()))
os.environ["XDG_STATE_HOME"] = _held.enter_context(tempfile.TemporaryDirectory(prefix="openral-state-"))
