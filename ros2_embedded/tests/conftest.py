"""A ROS domain of its own for each test run, so that no other node is seen."""

from __future__ import annotations

import os

# Set before any session opens; child processes inherit it. 101 to 200 are seldom used by hand.
os.environ["ROS_DOMAIN_ID"] = str(101 + os.getpid() % 100)
